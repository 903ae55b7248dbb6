# The library for other programs, what is installed, and the Debian package. A prefix may be moved: nothing in it holds its path.

# One shared library with the C interface; all else in it is hidden, so that no other protobuf or C++ library in a process meets ours.
file(GLOB api CONFIGURE_DEPENDS tools/api/*.cpp)
file(RELATIVE_PATH backends_from_library ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_PREFIX}/lib/infinitensor/backends)
add_library(it_api SHARED ${api})
set_target_properties(it_api PROPERTIES OUTPUT_NAME infinitensor EXPORT_NAME infinitensor VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_compile_definitions(it_api PRIVATE IT_VERSION="${PROJECT_VERSION}" IT_BACKENDS="${backends_from_library}")
target_include_directories(it_api INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(it_api PRIVATE it_cli)
file(CONFIGURE OUTPUT infinitensor.map CONTENT "{ global: it_*; local: *; };\n")
target_link_options(it_api PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${PROJECT_BINARY_DIR}/infinitensor.map -Wl,--as-needed)

foreach(tool import opt run check bench)
  install(TARGETS it-${tool} DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES completions/it.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME it-${tool})
  install(FILES completions/it.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME it-${tool}.fish)
endforeach()
install(FILES completions/it.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _it)
install(TARGETS it_check_work DESTINATION lib/infinitensor)  # where it-check looks from its own folder
foreach(section 1 5 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
file(GLOB json_schemas CONFIGURE_DEPENDS schemas/*.schema.json)
install(FILES ${json_schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/infinitensor/schemas)
install(FILES tools/experiments.mk tools/experiments.py DESTINATION ${CMAKE_INSTALL_DATADIR}/infinitensor)
install(FILES libcore/plugin/it_backend.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/infinitensor COMPONENT header)
install(FILES tools/api/infinitensor.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/infinitensor)

# For CMake: find_package(InfiniTensor), InfiniTensor::infinitensor. While the major version is 0, a minor one may change the interface.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/InfiniTensor)
install(TARGETS it_api EXPORT it_api LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT it_api NAMESPACE InfiniTensor:: FILE InfiniTensorConfig.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/InfiniTensorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/InfiniTensorConfigVersion.cmake DESTINATION ${package_dir})

# For pkg-config, which finds the prefix from where the file is.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(CONFIGURE OUTPUT infinitensor.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@prefix_from_pc@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: InfiniTensor
Description: @PROJECT_DESCRIPTION@, as a library
Version: @PROJECT_VERSION@
Libs: -L${libdir} -linfinitensor
Cflags: -I${includedir}
]])
install(FILES ${PROJECT_BINARY_DIR}/infinitensor.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# cpack -G DEB
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME infinitensor)
set(CPACK_PACKAGE_CONTACT "InfiniTensor maintainers <maintainers@infinitensor.invalid>" CACHE STRING "Maintainer of the Debian package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/debian.cmake)
set(CPACK_IT_SOURCE_DIR ${PROJECT_SOURCE_DIR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
file(CONFIGURE OUTPUT triggers CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${PROJECT_DESCRIPTION}
Imports ONNX models, optimises them, runs them, checks them and measures
them: five tools around one stream, and a library with a C interface.")
include(CPack)

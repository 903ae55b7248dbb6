// The ONNX message classes, for the files of this folder alone.
#pragma once

#include <onnx/onnx_pb.h>

# Experiments: each of some models, optimised in several ways, measured and put into a table. For GNU make 4.3 or newer, bash, flock (util-linux) and
# Python 3, whose standard library draws. A Makefile sets these and includes this file; tests/experiments/ is an example, it-pipelines(7) the manual.
#
#   MODELS    a.onnx b.onnx    a column each: files, or what other rules make; their names hold no blanks
#   VARIANTS  plain fused      a row each; OPT.plain and OPT.fused are their options of it-opt
#   IMPORT, BENCH              options of it-import and it-bench
#   DEVICE, OUT                what runs them, and the folder of all results
#   LOCK                       one measurement at a time among all makes that name this file
#
# What is made depends on contents, options and the version of the tools, not on times of files: each has a stamp, written only when it changes.
# Recipes run in bash and stop at the first failure in a pipe.
OUT ?= out
DEVICE ?= cpu
IMPORT ?=
BENCH ?= --duration 3
LOCK ?= $(OUT)/lock
PYTHON ?= python3

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

experiments.script := $(dir $(lastword $(MAKEFILE_LIST)))experiments.py
experiments.names := $(basename $(notdir $(MODELS)))
experiments.results := $(foreach name,$(experiments.names),$(VARIANTS:%=$(OUT)/$(name)/%.json))
experiments.graphs := $(experiments.results:.json=.itg)
experiments.stamps := $(addprefix $(OUT)/,cells.stamp tools.stamp import.stamp bench.stamp $(VARIANTS:%=%.opt.stamp) $(experiments.names:%=%/model.stamp))
experiments.pages := $(addprefix $(OUT)/,table.md table.csv plot.svg)

$(foreach name,MODELS VARIANTS,$(if $(strip $($(name))),,$(error $(name) is empty)))
$(foreach name,$(VARIANTS),$(if $(filter undefined,$(origin OPT.$(name))),$(error OPT.$(name) is not set: the options of it-opt for variant $(name))))
$(if $(filter-out $(words $(experiments.names)),$(words $(sort $(experiments.names)))),$(error two MODELS have the same name: $(experiments.names)))

.PHONY: experiments experiments.always
experiments: $(experiments.pages)

$(experiments.pages) &: $(experiments.results) $(OUT)/cells.stamp $(experiments.script)
	$(PYTHON) $(experiments.script) $(OUT) --models $(experiments.names) --variants $(VARIANTS)

# A stamp is a makefile of comments, because make brings makefiles up to date before it looks at anything else.
experiments.keep = if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
define experiments.stamp
$(OUT)/$(1).stamp: experiments.always
	@$$(file >$$@.new,# $(2))$$(experiments.keep)
endef
$(eval $(call experiments.stamp,cells,$$(experiments.names) / $$(VARIANTS)))
$(eval $(call experiments.stamp,import,$$(IMPORT)))
$(eval $(call experiments.stamp,bench,$$(DEVICE) $$(BENCH)))
$(foreach name,$(VARIANTS),$(eval $(call experiments.stamp,$(name).opt,$$(OPT.$(name)))))
$(OUT)/tools.stamp: experiments.always
	@for tool in it-import it-opt it-bench; do $$tool --version; done | sed 's/^/# /' >$@.new || { rm $@.new; false; }
	@$(experiments.keep)

# Model $(1), whose file is $(2). Status 1 of it-check graph: it has something to say about the model, which the digests do not mind.
define experiments.model
$(OUT)/$(1)/model.stamp: $(2) experiments.always
	@{ it-check graph -q --digest $(2) || [ $$$$? = 1 ]; } | sed -n '/^structure \|^content /s/^/# /p' >$$@.new || { rm $$@.new; false; }
	@$$(experiments.keep)
$(OUT)/$(1).itg: $(OUT)/$(1)/model.stamp $(OUT)/import.stamp $(OUT)/tools.stamp
	it-import $$(IMPORT) $(2) -o $$@
endef
$(foreach model,$(MODELS),$(eval $(call experiments.model,$(basename $(notdir $(model))),$(model))))

# Model $(1) in variant $(2). Nothing is measured before all is built, nor while something else is.
define experiments.cell
$(OUT)/$(1)/$(2).itg: $(OUT)/$(1).itg $(OUT)/$(2).opt.stamp
	it-opt $$(OPT.$(2)) $$< -o $$@
$(OUT)/$(1)/$(2).json: $(OUT)/$(1)/$(2).itg $(OUT)/bench.stamp | $$(experiments.graphs)
	flock $$(LOCK) it-bench -q -d $$(DEVICE) $$(BENCH) --json $$@ $$< >/dev/null
endef
$(foreach name,$(experiments.names),$(foreach variant,$(VARIANTS),$(eval $(call experiments.cell,$(name),$(variant)))))

# Not where nothing is to be made, as in make clean.
ifneq ($(filter-out %clean,$(or $(MAKECMDGOALS),experiments)),)
$(if $(shell mkdir -p $(addprefix $(OUT)/,$(experiments.names)) || echo failed),$(error cannot make the folder $(OUT)))
include $(experiments.stamps)
endif

"""ONNX Runtime's word on what it-run wrote. oracle.py MODEL.onnx INPUTS.npz OUTPUTS.npz: every output equal within rtol 1e-4, atol 1e-6."""

import sys

import numpy as np
import onnxruntime


def main(model, inputs, outputs):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    expected = session.run(None, dict(np.load(inputs)))
    ours = np.load(outputs)
    for output, value in zip(session.get_outputs(), expected):
        assert ours[output.name].dtype == value.dtype, output.name
        np.testing.assert_allclose(ours[output.name], value, rtol=1e-4, atol=1e-6, err_msg=output.name)
    print(f"{len(expected)} outputs equal to ONNX Runtime's")


if __name__ == "__main__":
    main(*sys.argv[1:])

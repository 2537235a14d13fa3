"""Writes a whole ViT with random weights as ONNX, as exporters write it or with onnxruntime's own
operators ("fused"): make_vit.py OUT.onnx LAYERS WIDTH HEADS PATCH SIDE plain|fused."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OWN = "com.microsoft"


class Vit:
    def __init__(self, width, heads, patch, side, fused):
        self.width, self.heads, self.patch, self.side, self.fused = width, heads, patch, side, fused
        self.patches = (side // patch) ** 2
        self.random = np.random.default_rng(1)
        self.nodes, self.constants = [], []

    def constant(self, value, dtype=np.float32):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape, dtype=np.float32) * 0.02)

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"value{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x, rows, cols):
        return self.op("Add", self.op("MatMul", x, self.weight(rows, cols)), self.weight(cols))

    def norm(self, x):
        scale, shift = self.constant(np.ones(self.width)), self.constant(np.zeros(self.width))
        return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-6)

    def gelu(self, x):
        if self.fused:
            return self.op("Gelu", x, domain=OWN)
        error = self.op("Erf", self.op("Div", x, self.constant(np.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", error, self.constant(1))),
                       self.constant(0.5))

    def attention(self, x):
        width, tokens, head = self.width, self.patches + 1, self.width // self.heads
        if self.fused:
            y = self.op("Attention", x, self.weight(width, 3 * width), self.weight(3 * width),
                        domain=OWN, num_heads=self.heads)
            return self.linear(y, width, width)
        shape = self.constant([1, tokens, 3, self.heads, head], np.int64)
        heads = self.op("Transpose", self.op("Reshape", self.linear(x, width, 3 * width), shape),
                        perm=[2, 0, 3, 1, 4])
        parts = self.op("Split", heads, self.constant([1, 1, 1], np.int64), outputs=3, axis=0)
        q, k, v = (self.op("Squeeze", part, self.constant([0], np.int64)) for part in parts)
        scores = self.op("MatMul", self.op("Mul", q, self.constant(head**-0.5)),
                         self.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v),
                    perm=[0, 2, 1, 3])
        y = self.op("Reshape", y, self.constant([1, tokens, width], np.int64))
        return self.linear(y, width, width)

    def tokens(self):
        width, patch = self.width, self.patch
        x = self.op("Conv", "pixels", self.weight(width, 3, patch, patch), self.weight(width),
                    kernel_shape=[patch, patch], strides=[patch, patch])
        x = self.op("Reshape", x, self.constant([1, width, self.patches], np.int64))
        x = self.op("Concat", self.weight(1, 1, width), self.op("Transpose", x, perm=[0, 2, 1]), axis=1)
        return self.op("Add", x, self.weight(1, self.patches + 1, width))

    def build(self, layers):
        x = self.tokens()
        for _ in range(layers):
            x = self.op("Add", x, self.attention(self.norm(x)))
            y = self.gelu(self.linear(self.norm(x), self.width, 4 * self.width))
            x = self.op("Add", x, self.linear(y, 4 * self.width, self.width))
        one = [self.constant([i], np.int64) for i in (0, 1)]
        x = self.op("Squeeze", self.op("Slice", self.norm(x), one[0], one[1], one[1]), one[1])
        self.nodes.append(helper.make_node("Identity", [self.linear(x, self.width, 1000)], ["logits"]))
        picture = [1, 3, self.side, self.side]
        graph = helper.make_graph(
            self.nodes, "vit",
            [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, picture)],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1000])],
            self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(OWN, 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        return model


if __name__ == "__main__":
    path, (num_layers, *shape) = sys.argv[1], map(int, sys.argv[2:7])
    onnx.save(Vit(*shape, sys.argv[7] == "fused").build(num_layers), path)

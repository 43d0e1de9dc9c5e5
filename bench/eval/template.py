#!/usr/bin/env python3
"""template.py MODEL.gguf OUT.jinja      the chat template that makes llama-server see this model's tool calls

Qwen2.5-Coder writes a call as fenced JSON although its own template asks for <tool_call> tags, so with that template no answer
comes back as a tool call. The template is read out of the model file and changed in three places to ask for what the model does;
llama-server derives its parser and its grammar from it.
"""
import struct
import sys

CHANGES = [
    (r'within <tool_call></tool_call> XML tags:\n<tool_call>\n{{\"name\": <function-name>, \"arguments\": <args-json-object>}}\n</tool_call>',
     r'inside a json code block:\n```json\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n```'),
    (r"""'\n<tool_call>\n{"name": "'""", r"""'\n```json\n{"name": "'"""),
    (r"""'}\n</tool_call>'""", r"""'}\n```'"""),
]

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}      # GGUF's plain value types
STRING, ARRAY = 8, 9


def chat_template(path):
    """The value of tokenizer.chat_template in a GGUF file."""
    with open(path, "rb") as file:
        def number(form):
            return struct.unpack("<" + form, file.read(struct.calcsize(form)))[0]

        def text():
            return file.read(number("Q"))

        def skip(kind):
            if kind == STRING:
                text()
            elif kind == ARRAY:
                inner, count = number("I"), number("Q")
                if inner in SIZES:
                    file.seek(SIZES[inner] * count, 1)
                else:
                    for _ in range(count):
                        skip(inner)
            else:
                file.seek(SIZES[kind], 1)

        if file.read(4) != b"GGUF":
            sys.exit(path + " is no GGUF file")
        number("I"), number("Q")                                                # version, tensors
        for _ in range(number("Q")):
            key, kind = text(), number("I")
            if key == b"tokenizer.chat_template":
                return text().decode()
            skip(kind)
    sys.exit(path + " holds no chat template")


def main(model, out):
    template = chat_template(model)
    for old, new in CHANGES:
        if template.count(old) < 1:
            sys.exit("The template is not the one this was made for: it lacks " + old)
        template = template.replace(old, new)
    with open(out, "w") as file:
        file.write(template)


main(*sys.argv[1:])

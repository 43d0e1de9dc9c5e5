#!/usr/bin/env python3
"""model_server.py MODEL.gguf TEMPLATE.jinja PORT THREADS      llama.cpp's server on loopback, until it is ended

Run with the Python of bench/work/eval/venv, where the library is. Prints one line when it is ready.
"""
import signal
import sys

import xllamacpp


def main(model, template, port, threads):
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.use_jinja = True
    with open(template) as file:
        params.chat_template = file.read()
    server = xllamacpp.Server(params)
    print("ready", server.listening_address, flush=True)
    signal.pause()


main(*sys.argv[1:])

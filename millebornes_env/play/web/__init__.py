"""The table in the browser: the page's files, and two engines that answer its messages.

    index.html, page.css, table/  the page: board, hand, dialogs
    server.py, table.py           the engine in Python, and its server; server_engine.js calls it
    wasm_engine.js, wasm_*.js     the engine in the browser, in a worker (worker_engine.js)
    study_engine.js               the engine of a participant in a study
    notation.js, position_*.js    positions and records as text
    engine.json                   the engine that the page starts (the server and studies answer another)

`make web` builds the folder engine: `export.page_kernels` lists the compiled functions, `export.wasm` writes
them as engine.wasm, and wasm_kernels.js loads it.
"""

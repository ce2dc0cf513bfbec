// Unpacks the page: the texts of the programs, the module of the compiler, and the scripts.
(async () => {
    const unpacked = async (packed) => {
        const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
        return new Response(stream).arrayBuffer();
    };
    try {
        const lines = document.getElementById("parts").textContent.trim().split("\n");
        const [module, ...texts] = await Promise.all(lines.map(unpacked));
        const [main, worker, programs] = texts.map((text) => new TextDecoder().decode(text));
        window.usuba = { module, worker, programs: JSON.parse(programs) };
        const script = document.createElement("script");
        script.textContent = main;
        document.head.append(script);
    } catch (error) {
        const note = document.querySelector(".loading");
        note.textContent = `The page cannot start: ${error.message}. It needs a browser of 2023 or later.`;
    }
})();

// The state of a page as a link: `#v1=` and the state in JSON, compressed, in base64url.

const PREFIX = "#v1=";

async function through(stream, bytes) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function written(state) {
    const bytes = new TextEncoder().encode(JSON.stringify(state));
    const packed = await through(new CompressionStream("deflate-raw"), bytes);
    let letters = "";
    for (const byte of packed) letters += String.fromCharCode(byte);
    return PREFIX + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Whether a value is an object, and all its values are of a type. */
const isRecord = (value, type) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every((one) => type.includes(typeof one) || Array.isArray(one));

/** Why a state is none, or null. */
function wrong(state) {
    if (!isRecord(state, ["string", "object"])) return "it is no state";
    if (typeof state.program !== "string" && (!isRecord(state.files, ["string"]) || typeof state.files[state.root] !== "string")) return "it has no program";
    const { settings } = state;
    const isList = Array.isArray(settings) && settings.length > 0 && settings.every((one) => isRecord(one, ["string", "number"]));
    return settings === undefined || isList ? null : "its settings are none";
}

/** The state of a link; null if there is none. Throws if it cannot be read. */
export async function read(hash) {
    if (!hash.startsWith(PREFIX)) return null;
    const letters = atob(hash.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const bytes = await through(new DecompressionStream("deflate-raw"), packed);
    const state = JSON.parse(new TextDecoder().decode(bytes));
    const why = wrong(state);
    if (why) throw new Error(why);
    return state;
}

// Elements, by tag, properties and children.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
    for (const [name, value] of Object.entries(properties ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "class" || name.includes("-") || element.namespaceURI === SVG)
            element.setAttribute(name, value === true ? "" : value);
        else if (name in element && name !== "role" && name !== "list") element[name] = value;
        else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
}

export const h = (tag, properties, ...children) =>
    filled(document.createElement(tag), properties, children);

export const svg = (tag, properties, ...children) =>
    filled(document.createElementNS(SVG, tag), properties, children);

/** A number as people read it: `1,234`, `0.25`. */
export const number = (value) =>
    value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });

/** `1 gate`, `2 gates`. */
export const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

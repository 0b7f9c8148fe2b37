/**
 * Names the environment variables of a gateway's entry in a client's settings. Each keeps one value of the environment of one
 * wrapped server.
 */

export const KEPT = 'EARPIECE_KEPT_';

/** Makes a unique name for each pair. Any character except letters and digits becomes its code between single `_`. */
export const keptVariable = (server: string, name: string): string => `${KEPT}${escaped(server)}__${escaped(name)}`;

const escaped = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9]/gu, (sign) => `_${(sign.codePointAt(0) ?? 0).toString(16)}_`);

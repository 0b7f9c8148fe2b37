/**
 * Names the environment variables in a client's entry for the gateway. Each variable keeps one value for the environment of one
 * wrapped server.
 */

export const KEPT = 'EARPIECE_KEPT_';

/** Makes a unique name for each pair. Any character except letters and digits becomes its code between two `_`. */
export const keptVariable = (server: string, name: string): string => `${KEPT}${escaped(server)}__${escaped(name)}`;

const escaped = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9]/gu, (sign) => `_${(sign.codePointAt(0) ?? 0).toString(16)}_`);

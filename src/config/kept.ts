/** Environment variables of a gateway's entry. Each keeps one value of the environment of one server behind that gateway. */

export const KEPT = 'EARPIECE_KEPT_';

/** A unique name for each pair: any character except letters and digits becomes its code between single `_`. */
export const keptVariable = (server: string, name: string): string => `${KEPT}${escaped(server)}__${escaped(name)}`;

const escaped = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9]/gu, (sign) => `_${(sign.codePointAt(0) ?? 0).toString(16)}_`);

/** Variables by which the entry of a gateway keeps the environment of the servers behind it, each value for one server alone. */

export const KEPT = 'EARPIECE_KEPT_';

/** A unique name for each pair: any character except letters and digits becomes its code between single `_`. */
export const keptVariable = (server: string, name: string): string => `${KEPT}${escaped(server)}__${escaped(name)}`;

const escaped = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9]/gu, (sign) => `_${(sign.codePointAt(0) ?? 0).toString(16)}_`);

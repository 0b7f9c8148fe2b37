/** Adds Earpiece's MCP server to the settings of an agent. */
import { isDeepStrictEqual } from 'node:util';
import { editToml, type Edited } from '../../config/edit.ts';
import { jsonAt, jsonProblem, removeJson, setJson } from '../../config/edit-json.ts';
import { readToml } from '../../config/index.ts';
import { withoutSecretWords } from '../../config/secret-words.ts';
import { isOurServer, SERVER_NAME } from './ours.ts';
import type { Part } from './setup.ts';

type Server = { readonly file: string; readonly path: readonly string[] };

/** Returns the part that adds the server to a JSON file. `entry` is the server in the format of the file. */
export function jsonServerPart({ file, path, entry }: Server & { readonly entry: object }): Part {
  const own = [...path, SERVER_NAME];
  return {
    file,
    what: `the MCP server ${SERVER_NAME}`,
    hasServer: (text) => isOurServer(wordsOf(jsonAt(text, own))),
    serverWords: (text) => wordsOf(jsonAt(text, own)),
    add(text) {
      const there = jsonAt(text, own);
      if (there !== undefined && !isOurServer(wordsOf(there))) return taken(file, wordsOf(there));
      // A person may have added keys of the agent, such as `excludeTools`.
      const wanted = { ...(there as object | undefined), ...entry };
      return isDeepStrictEqual(there, wanted) ? { kind: 'text', text } : setJson(text, own, wanted, file);
    },
    remove(text, base = '') {
      if (jsonProblem(text, file) !== undefined || !isOurServer(wordsOf(jsonAt(text, own)))) return { kind: 'text', text };
      let edited = removeJson(text, own, file);
      for (let depth = path.length; depth > 0; depth--) {
        const above = path.slice(0, depth);
        const left = edited.kind === 'text' ? jsonAt(edited.text, above) : undefined;
        const empty = typeof left === 'object' && left !== null && Object.keys(left).length === 0;
        if (edited.kind === 'text' && empty && jsonAt(base, above) === undefined) edited = removeJson(edited.text, above, file);
      }
      return edited;
    },
  };
}

/** Returns the part that adds the server to a TOML file. `entry` contains plain values by key. */
export function tomlServerPart({
  file,
  path,
  entry,
}: Server & { readonly entry: Readonly<Record<string, string | readonly string[]>> }): Part {
  const own = [...path, SERVER_NAME];
  const there = (text: string): Edited | { readonly kind: 'server'; readonly server: unknown } => {
    const read = readToml(text, file);
    return read.kind === 'problem' ? read : { kind: 'server', server: own.reduce<unknown>(member, read.table) };
  };
  return {
    file,
    what: `the MCP server ${SERVER_NAME}`,
    hasServer(text) {
      const found = there(text);
      return found.kind === 'server' && isOurServer(wordsOf(found.server));
    },
    serverWords(text) {
      const found = there(text);
      return found.kind === 'server' ? wordsOf(found.server) : [];
    },
    add(text) {
      const found = there(text);
      if (found.kind !== 'server') return found;
      if (found.server !== undefined && !isOurServer(wordsOf(found.server))) return taken(file, wordsOf(found.server));
      let edited: Edited = { kind: 'text', text };
      for (const [key, value] of Object.entries(entry))
        if (edited.kind === 'text' && !isDeepStrictEqual(member(found.server, key), value))
          edited = editToml(edited.text, { path: [...own, key], value }, file);
      return edited;
    },
    remove(text) {
      const found = there(text);
      let edited: Edited = { kind: 'text', text };
      if (found.kind !== 'server' || !isOurServer(wordsOf(found.server))) return edited;
      for (const path of leaves(found.server).toReversed())
        if (edited.kind === 'text') edited = editToml(edited.text, { path: [...own, ...path] }, file);
      return edited;
    },
  };
}

const taken = (file: string, words: readonly string[]): Edited => ({
  kind: 'problem',
  problem: {
    file,
    key: SERVER_NAME,
    message: `has another MCP server named "${SERVER_NAME}"${words.length === 0 ? '' : `, which starts ${withoutSecretWords(words).join(' ')}`}; rename that server, then run the command again`,
  },
});

const member = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;

/** Returns the words of the command that starts a server: `command` and `args`, or a `command` that contains both. */
export function wordsOf(server: unknown): readonly string[] {
  return [member(server, 'command'), member(server, 'args')].flat().filter((word): word is string => typeof word === 'string');
}

const leaves = (value: unknown): readonly (readonly string[])[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner).map((path) => [key, ...path]))
    : [[]];

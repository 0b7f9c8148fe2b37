import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defineConfig, type UserConfig } from 'tsdown';

const JSON_SCHEMA = join(import.meta.dirname, 'src/agent/json-schema.d.ts');

const both: UserConfig = {
  platform: 'node',
  fixedExtension: false,
  // The target is older than the supported Node. An old Node must be able to parse the entry, which reports that this Node is
  // too old.
  target: 'es2022',
};

// Chunks are in a folder of `dist`, because the code of `src/cli/version.ts` looks for package.json two folders up.
const chunkFileNames = 'chunks/[name]-[hash].js';

const library: UserConfig = {
  ...both,
  entry: {
    index: 'src/index.ts',
    gateway: 'src/entries/gateway.ts',
    agent: 'src/entries/agent.ts',
    'ai-sdk': 'src/entries/ai-sdk.ts',
    server: 'src/entries/server.ts',
    sources: 'src/entries/sources.ts',
    store: 'src/entries/store.ts',
    postgres: 'src/entries/postgres.ts',
    nats: 'src/entries/nats.ts',
    client: 'src/entries/client.ts',
  },
  // `@ai-sdk/provider` is an optional peer dependency. Its types are bundled, so that a program without this package compiles.
  deps: { dts: { alwaysBundle: ['@ai-sdk/provider', 'json-schema'] } },
  // The types of `@ai-sdk/provider` import `json-schema`, a package without types.
  plugins: [{ name: 'json-schema', resolveId: { order: 'pre', handler: (id) => (id === 'json-schema' ? JSON_SCHEMA : null) } }],
  dts: { entry: ['src/index.ts', 'src/entries/*.ts'] },
  outputOptions: { chunkFileNames },
};

/**
 * Replaces imports of Node's modules by `process.getBuiltinModule`. An import reads each export, and some exports load further
 * modules: 40 for `node:fs`, 90 for `node:http`. `node:crypto` takes 5 ms in either case, so it is loaded only when one of its
 * functions is called.
 */
const askForBuiltins = {
  name: 'ask-for-builtins',
  renderChunk: (code: string): string =>
    code.replaceAll(
      /^import (?:\{([^}]*)\}|(?:\* as )?(\w+)) from "(node:[\w/]+)";$/gmu,
      (_, names: string | undefined, whole: string, module: string) =>
        module === 'node:crypto' && names !== undefined
          ? whenCalled(names)
          : `const ${names === undefined ? whole : `{${names.replaceAll(' as ', ': ')}}`} = process.getBuiltinModule("${module}");`,
    ),
};

/** Makes functions that load `node:crypto` when they are called. Classes and constants of `node:crypto` cannot be loaded late. */
function whenCalled(names: string): string {
  const functions = names.split(',').map((name) => name.trim().split(' as '));
  const odd = functions.find(([name = '']) => !/^(?:create|random|timing|hash$)/u.test(name));
  if (odd !== undefined) throw new Error(`${odd[0]} of node:crypto: tsdown.config.ts defers only functions that it knows`);
  return functions
    .map(([name, as = name]) => `const ${as} = (...given) => process.getBuiltinModule("node:crypto").${name}(...given);`)
    .join('\n');
}

type Chunk = { readonly type: string; readonly fileName: string; code: string };

const chunksOf = (bundle: Record<string, object>): Chunk[] =>
  (Object.values(bundle) as Chunk[]).filter(({ type }) => type === 'chunk');

/**
 * Escapes all characters beyond ASCII. A single character beyond Latin-1 makes V8 store the whole source with two bytes per
 * character. Such a source takes twice the memory and is slower to read.
 */
const oneByte = {
  name: 'one-byte',
  generateBundle(_: unknown, bundle: Record<string, object>): void {
    for (const chunk of chunksOf(bundle)) {
      // In a regular expression, an escape means the same character.
      if (/(?<!new RegExp\()String\.raw`[^`]*[\u0080-\uffff]/u.test(chunk.code))
        throw new Error(`${chunk.fileName}: write escapes into a String.raw outside of a RegExp`);
      chunk.code = chunk.code.replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
    }
  },
};

/**
 * Removes files that only re-export another file. Their importers then import the other file, because loading any file takes
 * time.
 */
const noFacades = {
  name: 'no-facades',
  generateBundle(_: unknown, bundle: Record<string, object>): void {
    const chunks = chunksOf(bundle);
    for (const facade of chunks) {
      const [, names, target] = /^export \{ ([\w$, ]+) \} from "\.\/([^"]+)";\s*$/u.exec(facade.code) ?? [];
      if (names === undefined) continue;
      const members = names.split(', ').map((name) => name.split(' as '));
      const taken = members.map(([name = '', as = name]) => `${as}: m.${name}`).join(', ');
      for (const chunk of chunks)
        chunk.code = chunk.code.replaceAll(
          new RegExp(`import\\("([./\\w-]*/)${basename(facade.fileName).replaceAll('.', '[.]')}"\\)`, 'gu'),
          (_all, folder: string) => `import("${folder}${target}").then((m) => ({ ${taken} }))`,
        );
      delete bundle[facade.fileName];
      const left = chunks.find(({ code }) => code.includes(`/${basename(facade.fileName)}"`));
      if (left !== undefined) throw new Error(`${left.fileName} still imports ${facade.fileName}, which only passes on`);
    }
  },
};

/**
 * Node spends several times more time on loading a file than on the code in it. So the code that a process or a thread always
 * loads is in few files.
 */
const processes: UserConfig = {
  ...both,
  entry: { 'cli/main': 'src/cli/main.ts' },
  plugins: [askForBuiltins, oneByte, noFacades],
  dts: false,
  clean: false,
  outputOptions: {
    chunkFileNames,
    comments: { jsdoc: false },
    codeSplitting: {
      // Each group holds all imports of its files, except those in earlier groups.
      groups: [
        ['cli/hook-glance', 'cli/compiled'],
        ['cli/early'],
        ['cli/program'],
        [
          'cli/context',
          'cli/foreign',
          'cli/may-read',
          'cli/moments',
          'cli/reader',
          'cli/table',
          'cli/waited',
          'inbox/presence/arrival',
          'inbox/presence/worktree',
          'inbox/why/await-receipt',
          'inbox/why/receipts',
          'stores/placing',
          'stores/sqlite/files',
        ],
        ['cli/gateway'],
        ['stores/thread/store'],
        ['stores/sqlite/store'],
      ].map((files, at, { length }) => {
        const paths = files.map((file) => join(import.meta.dirname, `src/${file}.ts`));
        const missing = paths.find((path) => !existsSync(path));
        if (missing !== undefined) throw new Error(`${missing} was moved: name its new place in tsdown.config.ts`);
        return { name: basename(files[0] ?? ''), test: (id: string) => paths.includes(id), priority: length - at };
      }),
    },
  },
};

/** Other programs, some without Node, load these files by path: see `src/hosts/plugin-file.ts`. */
const plugins: UserConfig = {
  ...both,
  entry: { 'plugins/opencode': 'src/hosts/opencode/plugin.ts', 'plugins/pi': 'src/hosts/pi/extension.ts' },
  dts: false,
  clean: false,
  outputOptions: { chunkFileNames, comments: { jsdoc: false } },
};

/** `src/stores/thread/store.ts` starts this file by its path, from the same folder or the folder above. */
const thread: UserConfig = {
  ...both,
  entry: { 'workers/store': 'src/stores/thread/worker.ts' },
  plugins: [askForBuiltins, oneByte],
  dts: false,
  clean: false,
  outputOptions: { codeSplitting: false, comments: { jsdoc: false } },
};

/**
 * `src/bus/templates/thread.ts` starts this file by its path, from the same folder or the folder above. A process that runs
 * during an upgrade of Earpiece starts the new file. So these files have stable names and need no other file of Earpiece.
 */
const templates: UserConfig = {
  ...both,
  entry: { 'workers/template': 'src/bus/templates/worker.ts' },
  plugins: [askForBuiltins],
  dts: false,
  clean: false,
  outputOptions: { chunkFileNames: 'workers/template-[name].js', comments: { jsdoc: false } },
};

export default defineConfig([library, processes, plugins, thread, templates]);

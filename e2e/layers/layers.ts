/**
 * Lists the allowed imports between the rooms of `src`, and finds all other imports in the sources. Rooms are the folders of
 * `src`. The files directly in `src` are composition roots and may import every room.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Room = {
  readonly mayImport: readonly string[];
  /**
   * Rooms that decide only from values, without `node:`, clock or randomness. These rooms may import only the listed packages,
   * which are also pure.
   */
  readonly pure?: { readonly packages: readonly string[] };
};

/** The allowed imports of each room. Each import that is not listed is forbidden on purpose, so a new line needs a review. */
export const ROOMS: Readonly<Record<string, Room>> = {
  core: { mayImport: [], pure: { packages: ['@toon-format/toon'] } },
  // This room reads users' files of limited size, and matches patterns in linear time.
  input: { mayImport: ['core'] },
  stores: { mayImport: ['core', 'input'] },
  inbox: { mayImport: ['core', 'input'] },
  config: { mayImport: ['core', 'input'] },
  // The bus reads and checks the files of subscribers like files of the configuration.
  bus: { mayImport: ['core', 'input', 'inbox', 'config'] },
  // Background tools: an agent's loop calls them, and the agent's log contains their handles.
  handles: { mayImport: ['core', 'input', 'inbox'] },
  // Events of the outside world, for the bus.
  sources: { mayImport: ['core', 'input', 'inbox', 'bus', 'handles', 'talk'] },
  // The tasks of agents: records in their logs, and the interrupts from a person who changes a task.
  tasks: { mayImport: ['core', 'inbox'] },
  // Messages between agents.
  talk: { mayImport: ['core', 'inbox'] },
  // Frames and links of MCP, over stdio and HTTP, in both generations of the protocol. This room does not use notifications.
  mcp: { mayImport: [] },
  gateway: { mayImport: ['core', 'inbox', 'tasks', 'mcp'] },
  // The extension points of coding agents: their input, and the answers to it.
  hosts: { mayImport: ['core', 'input', 'inbox', 'tasks', 'talk', 'config'] },
  // The agent reaches its MCP servers through `mcp`, and takes the tools for its tasks from `tasks`, as the gateway does.
  agent: { mayImport: ['core', 'input', 'inbox', 'tasks', 'handles', 'sources', 'mcp'] },
  // Notifications and the gate for loops of the AI SDK.
  'ai-sdk': { mayImport: ['core', 'inbox'] },
  // The data that crosses HTTP, and the client for it.
  wire: { mayImport: ['core'] },
  // The server receives webhooks, whose kinds are in `sources`.
  server: { mayImport: ['core', 'wire', 'inbox', 'tasks', 'bus', 'sources', 'config'] },
  cli: {
    mayImport: [
      'core',
      'input',
      'stores',
      'inbox',
      'tasks',
      'config',
      'bus',
      'sources',
      'handles',
      'agent',
      'mcp',
      'gateway',
      'hosts',
      'talk',
      'wire',
      'server',
      '.',
    ],
  },
  // The public library: names of agents, checked arguments, conversations. Its settings have the ranges of the configuration.
  library: { mayImport: ['core', 'inbox', 'bus', 'tasks', 'config', '.'] },
  // The exports of the package, one file per subpath.
  entries: {
    mayImport: [
      'core',
      'wire',
      'stores',
      'inbox',
      'tasks',
      'config',
      'bus',
      'handles',
      'sources',
      'agent',
      'ai-sdk',
      'gateway',
      'server',
      'library',
      '.',
    ],
  },
};

/**
 * Files that only tests import, in the folder of the tested code. Such a file may import anything, like a test. Only tests may
 * import such a file.
 */
export const FOR_TESTS: readonly string[] = [
  'core/arbitraries.ts',
  'core/views/bars.ts',
  'core/views/corpus.ts',
  'core/views/take-apart.ts',
  'config/fixtures.ts',
  'agent/scripted-model.ts',
];

const IMPORT =
  /(?:^(?:import|export)\b[^'"`;=(]*?\bfrom\s*|^import\s*|\bimport\(\s*|\brequire\(\s*|\bgetBuiltinModule\(\s*)(['"])(?<target>[^'"\n]+)\1/gmu;

/** Modules and functions that use a clock, randomness or the machine. */
const IMPURE = [
  /\bDate\.now\b/u,
  /\bnew Date\(\s*\)/u,
  /(?<!new )\bDate\(\s*\)/u,
  /\bTemporal\.Now\b/u,
  /\bMath\.random\b/u,
  /\bcrypto\.\w/u,
  /\bperformance\.\w/u,
  /\bprocess\.\w/u,
  /\bset(?:Timeout|Interval|Immediate)\b/u,
  /\bqueueMicrotask\b/u,
  /\bfetch\(/u,
  /\bresolvedOptions\b/u,
  /\bconsole\.\w/u,
];

/**
 * Returns one line for each forbidden import, and for the first use of each impure name in a file of a pure room: `<file>:<line>
 * …`. Tests may import anything.
 */
export function violations(src: string, rooms: Readonly<Record<string, Room>> = ROOMS): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !FOR_TESTS.includes(file))
    .toSorted()
    .flatMap((file) => {
      const name = roomOf(file);
      const room = rooms[name];
      if (name === '.') return [];
      if (room === undefined)
        return [`${file}: the room ${name} is not listed in e2e/layers/layers.ts; list there what it may import`];
      const code = withoutComments(readFileSync(join(src, file), 'utf8'));
      const at = (index: number): string => `${file}:${code.slice(0, index).split('\n').length}`;
      return [
        ...[...code.matchAll(IMPORT)].flatMap((match) => {
          const why = forbidden(match.groups?.['target'] ?? '', file, room);
          return why === undefined ? [] : [`${at(match.index)} ${why}`];
        }),
        ...(room.pure
          ? IMPURE.flatMap((impure) => {
              const found = impure.exec(code);
              return found ? [`${at(found.index)} says ${found[0]}; ${name} has no clock, no chance and no I/O`] : [];
            })
          : []),
      ];
    });
}

/** The allowed imports of the console's files, in addition to each other: packages, the client, and the types of its data. */
const CONSOLE = {
  packages: ['react', 'react/jsx-runtime', 'react-dom/client', '@toon-format/toon'],
  rooms: ['wire/client'],
  typesOf: ['core'],
};

/** Finds forbidden imports of the console, which is outside of `src` and reaches the server only through the client. */
export function consoleViolations(source: string): string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/u.test(file) && !file.includes('.test.') && !file.endsWith('.d.ts'))
    .toSorted()
    .flatMap((file) => {
      const code = withoutComments(readFileSync(join(source, file), 'utf8'));
      return [...code.matchAll(IMPORT)].flatMap((match) => {
        const target = match.groups?.['target'] ?? '';
        const line = code.slice(0, match.index).split('\n').length;
        const why = `console/${file}:${line} imports ${target}`;
        if (!target.startsWith('.'))
          return CONSOLE.packages.includes(target) ? [] : [`${why}; it may import only ${CONSOLE.packages.join(', ')}`];
        const path = join(dirname(file), target);
        if (!path.startsWith('..')) return [];
        const [, room = ''] = /^\.\.\/\.\.\/src\/(wire\/client|[^/]+)\//u.exec(path) ?? [];
        if (CONSOLE.rooms.includes(room)) return [];
        if (CONSOLE.typesOf.includes(room) && /^(?:import|export) type\b/u.test(match[0])) return [];
        return [`${why}; of src it may import ${CONSOLE.rooms.join(', ')}, and types of ${CONSOLE.typesOf.join(', ')}`];
      });
    });
}

/** Returns the reason why this file of `room` may not import `target`. */
function forbidden(target: string, file: string, { mayImport, pure }: Room): string | undefined {
  if (target.startsWith('.')) {
    const path = join(dirname(file), target);
    if (path.startsWith('..')) return `imports ${target}, which is outside of src`;
    if (FOR_TESTS.includes(path)) return `imports ${path}, which is for tests only`;
    const to = roomOf(path);
    return to === roomOf(file) || mayImport.includes(to)
      ? undefined
      : `imports ${path}; it may import ${mayImport.join(', ') || 'no other room'}`;
  }
  if (!pure || pure.packages.includes(target)) return undefined;
  return `imports ${target}; it may import only ${pure.packages.join(', ')}`;
}

const roomOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '.');

/** Replaces comments by spaces, so positions stay the same. Quoted text stays. */
function withoutComments(code: string): string {
  return code.replaceAll(
    /(?<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//gu,
    (match, text: string | undefined) => text ?? match.replaceAll(/[^\n]/gu, ' '),
  );
}

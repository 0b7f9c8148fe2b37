/**
 * The matchers that come with the package. If several matchers match a line, the first matcher that completes a problem is used.
 */
import { step, type Matcher, type Rounds } from './matcher.ts';

/** The pattern of the file in a place such as `src/cart.ts:3:7`. */
const FILE = String.raw`(?<file>[^\s():]+)`;

export const SHIPPED: readonly Matcher[] = [
  {
    tool: 'tsc',
    steps: [
      step(/^(?<file>[^\s(][^(]*)\((?<line>\d+),(?<column>\d+)\): (?<severity>error|warning) (?<code>TS\d+): (?<message>.+)$/u),
    ],
  },
  {
    tool: 'tsc',
    steps: [
      step(/^(?<file>[^\s:][^:]*):(?<line>\d+):(?<column>\d+) - (?<severity>error|warning) (?<code>TS\d+): (?<message>.+)$/u),
    ],
  },
  {
    tool: 'eslint',
    steps: [
      step(/^(?<file>[^\s:][^:]*\.\w{1,5})$/u),
      // Syntax errors have no rule, so the code is optional.
      step(/^\s+(?<line>\d+):(?<column>\d+)\s+(?<severity>error|warning)\s+(?<message>\S.*?)(?:\s\s+(?<code>[@\w/-]+))?$/u, {
        loop: true,
      }),
    ],
  },
  {
    tool: 'vite',
    steps: [
      step(
        /\[vite\] (?:\(\w+\) )?(?:Internal server error|Pre-transform error|Error when evaluating SSR module[^:]*): (?<message>(?!Transform failed with \d+ error).+)$/u,
      ),
      step(/^\s+File: (?<file>[^:]+)(?::(?<line>\d+):(?<column>\d+))?/u, { skip: 8, optional: true }),
    ],
  },
  {
    // For Vite 8 and later.
    tool: 'vite',
    steps: [
      step(/^\[(?:(?<code>[A-Z_]+)|[\w:-]+)\] (?<message>\S.*)$/u),
      step(/^\s*[╭┌]─\[ (?<file>[^:\]]+):(?<line>\d+):(?<column>\d+) \]$/u),
    ],
  },
  {
    // For versions before Vite 8.
    tool: 'vite',
    steps: [
      step(/^error during build:$/u),
      step(/^(?<message>(?!Build failed with)\S.*)$/u),
      step(/^file: (?<file>[^:]+)(?::(?<line>\d+):(?<column>\d+))?/u, { skip: 2, optional: true }),
    ],
  },
  {
    tool: 'esbuild',
    steps: [
      step(/^\s*[✘X] \[(?<severity>ERROR|WARNING)\] (?<message>.+)$/u),
      step(/^\s+(?<file>[^\s:][^:]*):(?<line>\d+):(?<column>\d+):$/u, { skip: 2, optional: true }),
    ],
  },
  {
    tool: 'next',
    steps: [step(/^\s*⨯ (?<file>\.\/[^\s:]+)(?::(?<line>\d+):(?<column>\d+))?$/u), step(/^(?<message>\S.*)$/u)],
  },
  { tool: 'next', steps: [step(/^\s*⨯ (?<message>(?!\.\/)\S.*)$/u)] },
  {
    tool: 'next',
    steps: [
      step(/^(?:> Build error occurred|Failed to compile\.)$/u),
      step(/^(?<file>\.\/[^\s:]+):(?<line>\d+):(?<column>\d+)$/u, { skip: 3 }),
      step(/^(?<message>\S.*)$/u),
    ],
  },
  {
    // For errors of the plugin ts-loader.
    tool: 'webpack',
    steps: [
      step(/^\[tsl\] (?<severity>ERROR|WARNING) in (?<file>[^(]+)\((?<line>\d+),(?<column>\d+)\)$/u),
      step(/^\s+(?<code>TS\d+): (?<message>.+)$/u),
    ],
  },
  {
    tool: 'webpack',
    steps: [
      step(/^ERROR in (?<file>[^\s:]+)(?:[ :](?<line>\d+):(?<column>\d+)\S*)?$/u),
      step(/^(?<message>(?!\.\/\S+ \d+:\d+)\S.*)$/u),
    ],
  },
  {
    tool: 'vitest',
    steps: [
      step(/^\s*FAIL\s+(?<test>\S.*?)(?:\s+\[ .+ \])?$/u),
      step(/^(?<message>\w*(?:Error|Exception)\b.*)$/u),
      step(new RegExp(String.raw`^\s*❯ (?:\S+ )?${FILE}:(?<line>\d+):(?<column>\d+)$`, 'u'), { skip: 30, optional: true }),
    ],
  },
  {
    tool: 'jest',
    steps: [
      step(/^\s+● (?<test>\S.*)$/u),
      step(/^\s+(?<message>\S.*)$/u, { skip: 1 }),
      step(/^\s+(?<more>Expected\b.*)$/u, { skip: 1, optional: true }),
      step(/^\s+(?<more>Received\b.*)$/u, { optional: true }),
      step(new RegExp(String.raw`^\s+at (?:.*\()?(?!\S*node_modules)${FILE}:(?<line>\d+):(?<column>\d+)\)?$`, 'u'), {
        skip: 30,
        optional: true,
      }),
    ],
  },
  {
    tool: 'mocha',
    steps: [
      step(/^\s+\d+\) \S.*$/u),
      step(/^\s+(?<test>\S.*):$/u, { skip: 4 }),
      step(/^\s+(?<message>\w*(?:Error|Exception)\b.*?):?$/u, { skip: 1 }),
      step(new RegExp(String.raw`^\s+at (?:.*\()?(?!\S*node_modules)${FILE}:(?<line>\d+):(?<column>\d+)\)?$`, 'u'), {
        skip: 30,
        optional: true,
      }),
    ],
  },
  {
    tool: 'node --test',
    steps: [
      step(/^test at (?<file>[^:]+):(?<line>\d+):(?<column>\d+)$/u),
      step(/^✖ (?<test>\S.*?)(?: \([\d.]+ms\))?$/u),
      step(/^\s+(?<message>\S.*)$/u),
    ],
  },
  {
    tool: 'node --test',
    steps: [
      step(/^\s*not ok \d+ - (?<test>\S.*)$/u),
      step(/^\s+location: '(?<file>[^:]+):(?<line>\d+):(?<column>\d+)'$/u, { skip: 4, optional: true }),
      step(/^\s+error: (?:'(?<message>(?!\d+ subtests? failed).+)'|(?<more>[^|'].*))$/u, { skip: 4 }),
    ],
  },
  {
    tool: 'go',
    steps: [step(/^\s*--- FAIL: (?<test>\S+) /u), step(/^\s+(?<file>[^\s:]+\.go):(?<line>\d+): (?<message>.+)$/u, { skip: 2 })],
  },
  {
    tool: 'go',
    steps: [step(/^panic: (?<message>.+)$/u), step(/^\s+(?<file>\/[^\s:]+\.go):(?<line>\d+)/u, { skip: 6, optional: true })],
  },
  { tool: 'go', steps: [step(/^(?:vet: )?(?<file>[^\s:]+\.go):(?<line>\d+):(?<column>\d+): (?<message>.+)$/u)] },
  {
    tool: 'cargo',
    steps: [
      step(/^(?<severity>error|warning)(?:\[(?<code>E\d+)\])?: (?<message>.+)$/u),
      step(/^\s*--> (?<file>[^:]+):(?<line>\d+):(?<column>\d+)$/u),
    ],
  },
  {
    tool: 'cargo',
    steps: [
      step(/^thread '(?<test>[^']+)' (?:\(\d+\) )?panicked at (?<file>[^:]+):(?<line>\d+):(?<column>\d+):$/u),
      step(/^(?<message>\S.*)$/u),
      step(/^\s+(?<more>left: .+)$/u, { optional: true }),
      step(/^\s+(?<more>right: .+)$/u, { optional: true }),
    ],
  },
  { tool: 'pytest', steps: [step(/^FAILED (?<test>[^\s:]+::\S+) - (?<message>.+)$/u)] },
  { tool: 'pytest', steps: [step(/^ERROR (?<test>[^\s:]+\.py::\S+) - (?<message>.+)$/u)] },
  { tool: 'pytest', steps: [step(/^ERROR (?<file>[^\s:]+\.py) - (?<message>.+)$/u)] },
  {
    tool: 'pytest',
    steps: [
      step(/^_+ ERROR collecting (?<file>\S+) _+$/u),
      step(/^E\s+(?<message>(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b.*)$/u, { skip: 80 }),
    ],
  },
  {
    tool: 'unittest',
    steps: [
      step(/^(?:ERROR|FAIL): \w+ \((?<test>[\w.]+)\)$/u),
      step(/^\s+File "(?<file>[^"]+)", line (?<line>\d+)/u, { skip: 4, repeats: true }),
      step(/^(?<message>(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b.*)$/u, { skip: 6 }),
    ],
  },
  {
    tool: 'python',
    steps: [
      step(/^\s*Traceback \(most recent call last\):$/u),
      step(/^\s+File "(?<file>[^"]+)", line (?<line>\d+)/u, { skip: 2, repeats: true }),
      step(/^(?<message>(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)\b.*)$/u, { skip: 6 }),
    ],
  },
  {
    tool: 'python',
    steps: [
      step(/^\s+File "(?<file>[^"]+)", line (?<line>\d+)$/u),
      step(/^(?<message>(?:Syntax|Indentation|Tab)Error: .+)$/u, { skip: 3 }),
    ],
  },
  {
    tool: 'node',
    steps: [
      step(/^(?<file>(?:\/|file:\/\/|[A-Z]:\\)[^\n]*):(?<line>\d+)$/u),
      step(/^(?:Uncaught )?(?<message>\w*(?:Error|Exception)(?: \[\w+\])?: .+)$/u, { skip: 8 }),
    ],
  },
  {
    tool: 'node',
    steps: [
      step(/^(?:Uncaught )?(?<message>\w*Error(?: \[\w+\])?: .+)$/u),
      step(new RegExp(String.raw`^\s+at (?:.*\()?(?:node:\S+|(?:file://)?${FILE}:(?<line>\d+):(?<column>\d+)\)?)$`, 'u'), {
        skip: 3,
      }),
    ],
  },
  {
    tool: 'cc',
    steps: [
      step(/^(?<file>[^\s:(]+\.\w+):(?<line>\d+):(?:(?<column>\d+):)? (?:fatal )?(?<severity>error|warning): (?<message>.+)$/u),
    ],
  },
];

const RESTARTED =
  /^\[nodemon\] restarting|^Restarting '|\[tsx\] (?:change in .*|rerunning|restarting)|Detected change in .+, reloading|WatchFiles detected changes/u;

/**
 * The rounds of tools whose output shows rounds. The problems of other tools stay open until the program ends without an error.
 */
export const ROUNDS: Readonly<Record<string, Rounds>> = {
  tsc: {
    begins: /Starting (?:incremental )?compilation|Starting compilation in watch mode/u,
    ends: /Found \d+ errors?\. Watching for file changes/u,
  },
  vite: { clean: /\[vite\] (?:\(\w+\) )?(?:hmr update|page reload|hot updated)|^✓ built in /u },
  esbuild: { begins: /\[watch\] build started/u, ends: /\[watch\] build finished/u },
  next: { clean: /^\s*✓ Compiled/u },
  webpack: { ends: /\bwebpack [\d.]+ compiled |\bcompiled (?:successfully|with \d+ (?:error|warning))/iu },
  vitest: { begins: /^\s*RERUN\b/u, ends: /^\s*Test Files\s/u },
  jest: { ends: /^Ran all test suites/u },
  'node --test': { begins: RESTARTED },
  cargo: { begins: /^\[Running '/u, ends: /^\s*Finished |^error: could not compile|^error: test failed|^test result: ok/u },
  node: { begins: RESTARTED },
  python: { begins: RESTARTED },
};

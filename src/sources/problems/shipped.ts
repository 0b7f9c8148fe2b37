/**
 * Defines the matchers of the package. If several matchers match a line, the first matcher that completes a problem is used.
 */
import { either, step, type Matcher } from './matcher.ts';
import { JEST } from './shipped-jest.ts';
import { MOCHA } from './shipped-mocha.ts';
import { NODE_TEST } from './shipped-node-test.ts';
import { FILE } from './shipped-places.ts';
import { VITEST } from './shipped-vitest.ts';

/** A line of a Go stack with a file of the user, which is neither in Go's own `src` folder nor in the module cache. */
const GO_FRAME =
  /^\s+(?!\S*\/(?:go[^/]*|libexec|toolchain@[^/]+)\/src\/(?:runtime|testing|internal|sync|reflect|net|encoding|os|io|fmt|bufio|bytes|context|database|errors|html|log|math|regexp|sort|slices|maps|strconv|strings|text|time|unicode|syscall)\/)(?!\S*\/pkg\/mod\/)(?<file>(?:\/|[A-Z]:)[^\s:]+\.go):(?<line>\d+)/u;

/** A line of a Python stack with a file of the user. */
const PYTHON_FRAME =
  /^\s+File "(?!<|[^"]*\/(?:lib\/python[\d.]+|site-packages|dist-packages)\/)(?<file>[^"]+)", line (?<line>\d+)/u;

/** A line with a file of the user in the stack of pytest: `cart.py:3: in total`, `E     File "/shop/cart.py", line 1`. */
const PYTEST_FRAME =
  /^(?:E\s+File ")?(?!<|[^\s"]*\/(?:lib\/python[\d.]+|site-packages|dist-packages)\/)(?<file>[^\s:"<]+)(?:", line |:)(?<line>\d+)(?:: in .+)?$/u;

/** The last line of a section of pytest: `cart.py:3: AssertionError`. */
const PYTEST_PLACE = /^(?!\S*\/(?:lib\/python[\d.]+|site-packages|dist-packages)\/)(?<file>[^\s:<]+):(?<line>\d+): [\w.]+$/u;

/** A failure in one line: `cart.py:3: KeyError: 'tea'`. */
const PYTEST_LINE =
  /^(?!\S*\/(?:lib\/python[\d.]+|site-packages|dist-packages)\/)(?<file>[^\s:<]+\.py):(?<line>\d+): (?<message>\S.*)$/u;

export const SHIPPED: readonly Matcher[] = [
  ...VITEST,
  {
    tool: 'tsc',
    steps: [
      step(/^(?<file>[^\s(].*?)\((?<line>\d+),(?<column>\d+)\): (?<severity>error|warning) (?<code>TS\d+): (?<message>.+)$/u),
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
    // This matcher is for Vite 8 and later.
    tool: 'vite',
    steps: [
      step(/^\[(?:(?<code>[A-Z_]+)|[\w:-]+)\] (?<message>\S.*)$/u),
      step(/^\s*[╭┌]─\[ (?<file>[^:\]]+):(?<line>\d+):(?<column>\d+) \]$/u),
    ],
  },
  {
    // This matcher is for versions before Vite 8.
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
  {
    tool: 'next',
    steps: [
      step(/^\s*⨯ (?<message>(?!\.\/)\S.*)$/u),
      step(new RegExp(String.raw`^\s+at (?:.*\()?(?!node:|\S*node_modules)${FILE}:(?<line>\d+):(?<column>\d+)\)?$`, 'u'), {
        skip: 10,
        optional: true,
      }),
    ],
  },
  {
    tool: 'next',
    steps: [
      step(/^(?:> Build error occurred|Failed to compile\.)$/u),
      step(/^(?<file>\.\/[^\s:]+):(?<line>\d+):(?<column>\d+)$/u, { skip: 3 }),
      step(/^(?<message>\S.*)$/u),
    ],
  },
  {
    // This matcher is for errors of the plugin ts-loader.
    tool: 'webpack',
    steps: [
      step(/^\[tsl\] (?<severity>ERROR|WARNING) in (?<file>.+)\((?<line>\d+),(?<column>\d+)\)$/u),
      step(/^\s+(?<code>TS\d+): (?<message>.+)$/u),
    ],
  },
  {
    tool: 'webpack',
    steps: [
      step(/^ERROR in (?<file>[^\s:]+)(?:[ :](?<line>\d+):(?<column>\d+)\S*)?$/u),
      step(/^(?:\.\/\S+ )?(?<line>\d+):(?<column>\d+)\S*$/u, { optional: true }),
      // The matcher above reads the lines of ts-loader.
      step(/^(?<message>(?!\[tsl\])\S.*)$/u),
    ],
  },
  ...JEST,
  ...MOCHA,
  ...NODE_TEST,
  {
    tool: 'go',
    steps: [step(/^\s*--- FAIL: (?<test>\S+) /u), step(/^\s+(?<file>[^\s:]+\.go):(?<line>\d+): (?<message>.+)$/u, { skip: 2 })],
  },
  {
    // This matcher is for a panic in a test. Go prints the result of the package below the stacks.
    tool: 'go',
    until: /^FAIL\b/u,
    steps: [
      step(/^\s*--- FAIL: (?<test>\S+) /u),
      step(/^panic: (?<message>.+?)(?: \[recovered.*\])?$/u),
      step(/^goroutine \d+ \[/u, { skip: 8, optional: true }),
      step(GO_FRAME, { skip: 60, optional: true }),
    ],
  },
  {
    tool: 'go',
    steps: [
      step(/^panic: (?<message>.+?)(?: \[recovered.*\])?$/u),
      step(/^goroutine \d+ \[/u, { skip: 8, optional: true }),
      step(GO_FRAME, { skip: 60, optional: true }),
    ],
  },
  {
    tool: 'go',
    steps: [
      step(/^fatal error: (?<message>.+)$/u),
      step(/^goroutine \d+ \[/u, { skip: 3 }),
      step(GO_FRAME, { skip: 60, optional: true }),
    ],
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
  {
    // This matcher is for the section of a failing test. The summary at the end names the test's file.
    tool: 'pytest',
    isNote: true,
    steps: [
      step(/^_{3,} (?:ERROR at (?:setup|teardown) of )?(?<test>(?!ERROR collecting )\S.*?) _{3,}$/u),
      step(PYTEST_FRAME, { skip: 200, optional: true, repeats: true }),
      step(/^E\s+(?<message>\S.*)$/u, { skip: 200 }),
      step(PYTEST_PLACE, { skip: 40, optional: true }),
    ],
  },
  // With `--tb=line`, only the message shows the test.
  { tool: 'pytest', isNote: true, steps: [step(PYTEST_LINE)] },
  { tool: 'pytest', steps: [step(/^(?:FAILED|ERROR) (?<test>[^\s:]+\.py::\S.*?)(?: - (?<message>.+))?$/u)] },
  { tool: 'pytest', steps: [step(/^ERROR (?<file>[^\s:]+\.py) - (?<message>.+)$/u)] },
  {
    tool: 'pytest',
    steps: [
      step(/^_+ ERROR collecting (?<test>\S+) _+$/u),
      step(PYTEST_FRAME, { skip: 80, optional: true, repeats: true }),
      step(/^E\s+(?<message>(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b.*)$/u, { skip: 80 }),
    ],
  },
  {
    tool: 'unittest',
    steps: [
      step(/^(?:ERROR|FAIL): \w+ \((?<test>[\w.]+)\)$/u),
      step(PYTHON_FRAME, { skip: 40, repeats: true }),
      step(/^(?<message>(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b.*)$/u, { skip: 80 }),
    ],
  },
  {
    tool: 'python',
    steps: [
      step(/^\s*Traceback \(most recent call last\):$/u),
      step(PYTHON_FRAME, { skip: 40, optional: true, repeats: true }),
      step(/^(?<message>(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)\b.*)$/u, { skip: 80 }),
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
      // The reporter TAP of `node --test` prints `# ` before the lines of other output.
      step(/^(?:# )?(?<file>(?:\/|file:\/\/|[A-Z]:\\)(?!\S*node_modules)[^\n]*):(?<line>\d+)$/u),
      step(/^(?:# )?(?:Uncaught )?(?<message>\w*(?:Error|Exception)(?: \[\w+\])?: .+)$/u, { skip: 8 }),
    ],
  },
  {
    tool: 'node',
    steps: [
      either([
        // The part `file` is the file that imports a missing module.
        /^(?:# )?(?<message>Error \[\w+\]: Cannot find (?:module|package) .+ imported from (?<file>\/\S+|[A-Z]:\\\S+))$/u,
        /^(?:# )?(?:Uncaught )?(?<message>(?:\w*Error(?: \[\w+\])?|UnhandledPromiseRejection): .+)$/u,
      ]),
      step(
        new RegExp(
          String.raw`^#?\s+at (?:.*\()?(?:(?:node:|\S*node_modules/)\S*|(?:file://)?${FILE}:(?<line>\d+):(?<column>\d+)\)?)$`,
          'u',
        ),
        {
          skip: 3,
        },
      ),
      step(
        new RegExp(
          String.raw`^#?\s+at (?:.*\()?(?:file://)?(?!node:|\S*node_modules)${FILE}:(?<line>\d+):(?<column>\d+)\)?$`,
          'u',
        ),
        {
          skip: 20,
          optional: true,
        },
      ),
    ],
  },
  {
    // This matcher is for an error that a test file causes outside of its tests, such as a rejected promise.
    tool: 'node',
    steps: [
      step(
        /^[ℹ#] Error: A resource generated asynchronous activity after the test ended\. This activity created the error "(?<message>.+)" which triggered an? \w+ event/u,
      ),
    ],
  },
  {
    // This matcher is for a thrown value that is not an error.
    tool: 'node',
    steps: [
      step(/^(?:(?<file>(?:\/|file:\/\/|[A-Z]:\\)[^\n]*):(?<line>\d+)|node:\S+:\d+)$/u),
      step(/^\s*\^+$/u, { skip: 2 }),
      step(/^(?<message>\S.*)$/u),
      step(/^\((?<more>Use `node --trace-uncaught .+)\)$/u),
    ],
  },
  {
    tool: 'mypy',
    steps: [
      step(
        /^(?<file>[^\s:]+\.pyi?):(?<line>\d+):(?:(?<column>\d+):)? (?<severity>error|warning): (?<message>.+?)(?:\s\s\[(?<code>[\w-]+)\])?$/u,
      ),
    ],
  },
  {
    tool: 'ruff',
    steps: [
      step(/^(?<code>[A-Z]{1,4}\d{3,4}|invalid-syntax):? (?:\[\*\] )?(?<message>.+)$/u),
      step(/^\s*--> (?<file>[^:]+):(?<line>\d+):(?<column>\d+)$/u),
    ],
  },
  {
    // This matcher is for the short format of ruff, and for flake8.
    tool: 'ruff',
    steps: [step(/^(?<file>[^\s:]+\.pyi?):(?<line>\d+):(?<column>\d+): (?<code>[A-Z]{1,4}\d{3,4}) (?:\[\*\] )?(?<message>.+)$/u)],
  },
  {
    tool: 'cc',
    steps: [
      step(/^(?<file>[^\s:(]+\.\w+):(?<line>\d+):(?:(?<column>\d+):)? (?:fatal )?(?<severity>error|warning): (?<message>.+)$/u),
    ],
  },
  {
    // This matcher is for file names with spaces or parentheses. The line must be above a source line, because other sentences
    // may have the same form.
    tool: 'cc',
    steps: [
      step(/^(?<file>[^\s:][^:]*\.\w+):(?<line>\d+):(?<column>\d+): (?:fatal )?(?<severity>error|warning): (?<message>.+)$/u),
      step(/^\s+\d+ \| |^\s*~*\^~*$/u, { skip: 1 }),
    ],
  },
];

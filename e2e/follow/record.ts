/**
 * Records the outputs of real programs into `outputs`, for `outputs.test.ts`.
 *
 *   node e2e/follow/record.ts FOLDER [name...]
 *
 * FOLDER has the programs of PACKAGES in its node_modules. The PATH has go, cargo, gcc, mypy, ruff and python3 with pytest.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn as spawnPty } from '@lydell/node-pty';

/** The packages to install with npm in FOLDER. */
export const PACKAGES =
  'eslint webpack webpack-cli webpack-dev-server ts-loader next react react-dom jest esbuild mocha nodemon tsx typescript@5.9';
/** Marks, for replays, that the program was silent for a second. */
export const SILENCE = '\u001e';
const OUTPUTS = join(import.meta.dirname, 'outputs');
const REPOSITORY = join(import.meta.dirname, '../../node_modules');
const AT_MOST_MS = 120_000;

type Files = Readonly<Record<string, string>>;
/** Writes the files when the output since the previous step matches `when` and the program has then been silent for a second. */
type Step = { readonly when: RegExp; readonly write: Files };
type Recording = {
  readonly files: Files;
  readonly run: readonly string[];
  readonly steps?: readonly Step[];
  /** A program that does not end by itself is ended after its last output matches `until`. */
  readonly until?: RegExp;
  readonly terminal?: true;
};

const BROKEN = "export const total: number = 'three';\n";
const SOUND = 'export const total: number = 3;\n';
const TSCONFIG = JSON.stringify({
  compilerOptions: { strict: true, noEmit: true, types: [], skipLibCheck: true },
  include: ['*.ts'],
});
const PACKAGE = JSON.stringify({ name: 'shop', private: true });
const MODULE = JSON.stringify({ name: 'shop', private: true, type: 'module' });

/** Returns code that sets two values, one on each line. A number gives the same error on either line. */
const SAME = (one: string, two: string): string => `\n\nexport const one: string = ${one};\nexport const two: string = ${two};\n`;

const tscWatch = (tsc: string): Recording => ({
  files: {
    'tsconfig.json': TSCONFIG,
    'cart.ts': BROKEN,
    'price.ts': "import { total } from './cart';\ntotal.toFixed(undefined, 2);\n",
  },
  run: [tsc, '--watch'],
  steps: [
    { when: /Found 2 errors/u, write: { 'cart.ts': SOUND } },
    { when: /Found 1 error/u, write: { 'price.ts': "import { total } from './cart';\ntotal.toFixed(2);\n" } },
  ],
  until: /Found 0 errors/u,
});

const WEBPACK: Files = {
  'package.json': PACKAGE,
  'webpack.config.js': `module.exports = { mode: 'development', entry: './cart.ts', resolve: { extensions: ['.ts', '.js'] },
  module: { rules: [{ test: /\\.ts$/, use: 'ts-loader' }] }, devServer: { port: 0, host: '127.0.0.1' } };\n`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      types: [],
      sourceMap: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
    },
  }),
};

const NEXT: Files = {
  'package.json': JSON.stringify({ name: 'shop', private: true }),
  'next.config.mjs': 'export default { turbopack: { root: process.env.ROOT } };\n',
  'app/layout.jsx': 'export default function Layout({ children }) {\n  return <html><body>{children}</body></html>;\n}\n',
};
const PAGE = 'export default function Page() {\n  return <p>cart</p>;\n}\n';

const SPEC = `import { expect, it } from 'vitest';
it('rounds', () => expect(Math.floor(3.6)).toBe(4));
it('sums up', () => { throw new TypeError('no sum'); });
`;

const VITE: Recording = {
  files: {
    'package.json': MODULE,
    'index.html': '<script type="module" src="/cart.ts"></script>\n',
    'cart.ts': "import { price } from './missing';\nconsole.log(price);\n",
  },
  run: [join(REPOSITORY, '.bin/vite'), '--port', '38918', '--host', '127.0.0.1'],
  steps: [
    { when: /missing/u, write: { 'cart.ts': 'const total = (;\n' } },
    { when: /Unexpected|PARSE_ERROR/u, write: { 'cart.ts': SOUND } },
  ],
  until: /page reload|hmr update/u,
};

const FAILING = (name: string, expected: number): string => `import { expect, it } from 'vitest';
it('${name}', () => expect(Math.floor(3.6)).toBe(${expected}));
`;

/** Two test files fail. Then they are fixed one after the other, and only the fixed file runs again. */
const VITEST_TWO: Recording = {
  files: {
    'package.json': MODULE,
    'vite.config.js': 'export default {};\n',
    'cart.test.js': FAILING('rounds', 4),
    'price.test.js': FAILING('adds', 5),
  },
  run: ['node', join(REPOSITORY, 'vitest/vitest.mjs'), '--watch', '--root', '.'],
  steps: [
    { when: /(?:Watch|Wait)ing for file changes/u, write: { 'cart.test.js': FAILING('rounds', 3) } },
    { when: /(?:Watch|Wait)ing for file changes/u, write: { 'price.test.js': FAILING('adds', 3) } },
  ],
  until: /(?:Watch|Wait)ing for file changes/u,
};

/** Tests that fail with outputs of other programs, with other values than errors, and outside of every test. */
const THROWN = `import { it } from 'vitest';
it('starts', () => { throw new Error('no shop\\n\\nTypeError: cart is not a function\\n    at main (shop.js:3:7)'); });
it('builds', () => { throw new Error('no build\\n FAIL  price.test.js > adds\\nError: no price\\n ❯ price.js:9:9'); });
it('reads', () => { throw 'no file'; });
it('writes', () => { throw new Error(''); });
it('sends', () => { Promise.reject(new TypeError('no address')); });
it('waits', () => { Promise.reject('no time'); });
it('says', () => console.error('Error: no voice\\n    at say (shop.js:5:9)'));
`;

/** A test that prints the report of a failed test. */
const PRINTED = (expected: number): string => `import { expect, it } from 'vitest';
it('prints', () => console.error('\\n FAIL  price.test.js > adds\\nError: no price\\n ❯ price.js:9:9\\n'));
it('rounds [ down ]', () => expect(Math.floor(3.6)).toBe(${expected}));
`;

/** A test file that starts slowly, as on a busy machine. */
const SLOW = (name: string, expected: number, found = 1): string => `import assert from 'node:assert';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
await setTimeout(2_500);
test('${name}, twice', () => {
  assert.equal(${found}, ${expected});
});
`;

/**
 * Two test files fail. Then they are fixed one after the other. Node.js prints nothing for a while before it runs the fixed file
 * again.
 */
const NODE_TEST_SLOW: Recording = {
  files: { 'cart.test.mjs': SLOW('rounds', 2), 'price.test.mjs': SLOW('adds', 3) },
  run: ['node', '--test', '--watch'],
  terminal: true,
  steps: [
    { when: /duration_ms \d+\./u, write: { 'cart.test.mjs': SLOW('rounds', 1) } },
    { when: /Restarted/u, write: {} },
    { when: /duration_ms \d+\./u, write: { 'price.test.mjs': SLOW('adds', 1) } },
  ],
  until: /duration_ms \d+\./u,
};

const SUITE = (name: string, one: number, two: number): string => `import assert from 'node:assert';
import { describe, test } from 'node:test';
describe('${name}', () => {
  test('one', () => assert.equal(1, ${one}));
  test('two', () => assert.equal(2, ${two}));
});
`;

/**
 * One test fails in each of two files, whose tests have the same names. Then the first file is fixed, its other test fails, and
 * both files are fixed.
 */
const NODE_TEST_SUITES: Recording = {
  files: { 'cart.test.mjs': SUITE('cart', 3, 2), 'price.test.mjs': SUITE('price', 1, 3) },
  run: ['node', '--test', '--watch'],
  terminal: true,
  steps: [
    { when: /duration_ms \d+\./u, write: { 'cart.test.mjs': SUITE('cart', 1, 2) } },
    { when: /duration_ms \d+\./u, write: { 'cart.test.mjs': SUITE('cart', 1, 3) } },
    { when: /duration_ms \d+\./u, write: { 'price.test.mjs': SUITE('price', 1, 2) } },
    { when: /duration_ms \d+\./u, write: { 'cart.test.mjs': SUITE('cart', 1, 2) } },
  ],
  until: /duration_ms \d+\./u,
};

/**
 * A test of `price.test.mjs` fails. Then `cart.test.mjs` gets a syntax error, and the test in `price.test.mjs` is fixed. After
 * that, `cart.test.mjs` imports a missing module, and is fixed, too.
 */
const NODE_TEST_LOAD: Recording = {
  files: { 'cart.test.mjs': SUITE('cart', 1, 2), 'price.test.mjs': SUITE('price', 1, 3) },
  run: ['node', '--test', '--watch'],
  terminal: true,
  steps: [
    { when: /duration_ms \d+\./u, write: { 'cart.test.mjs': `${SUITE('cart', 1, 2)}const x = ;\n` } },
    { when: /duration_ms \d+\./u, write: { 'price.test.mjs': SUITE('price', 1, 2) } },
    { when: /duration_ms \d+\./u, write: { 'cart.test.mjs': `import './nothing.mjs';\n${SUITE('cart', 1, 2)}` } },
    { when: /duration_ms \d+\./u, write: { 'cart.test.mjs': SUITE('cart', 1, 2) } },
  ],
  until: /duration_ms \d+\./u,
};

/** The test of the first file fails all the time. The second file passes, then has a syntax error, and passes again. */
const LOAD = (name: string, run: readonly string[], test: (expected: number) => string, done: RegExp): Recording => ({
  files: { 'package.json': PACKAGE, [`cart${name}`]: test(3), [`price${name}`]: test(1) },
  run,
  steps: [
    { when: done, write: { [`price${name}`]: `${test(1)}const x = ;\n` } },
    { when: done, write: { [`price${name}`]: test(1) } },
  ],
  until: done,
});

/** Two modules of a page are broken. Then they are fixed one after the other. */
const VITE_TWO: Recording = {
  files: {
    'package.json': MODULE,
    'index.html': '<script type="module" src="/main.ts"></script>\n',
    'main.ts': "import './cart';\nimport './price';\nimport.meta.hot?.accept();\n",
    'cart.ts': 'export const total = (;\n',
    'price.ts': 'export const price = (;\n',
  },
  run: [join(REPOSITORY, '.bin/vite'), '--port', '38918', '--host', '127.0.0.1'],
  steps: [
    { when: /File: \S+cart\.ts[^]*File: \S+price\.ts|File: \S+price\.ts[^]*File: \S+cart\.ts/u, write: { 'cart.ts': SOUND } },
    { when: /hmr update|page reload/u, write: { 'price.ts': SOUND } },
  ],
  until: /hmr update|page reload/u,
};

/** Comparisons, whose error messages have several lines, and an exception in another file. */
const NODE_TEST_VALUES: Files = {
  'package.json': MODULE,
  'cart.js': 'export function pay() {\n  throw new TypeError("it\'s empty");\n}\n',
  'cart.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { pay } from './cart.js';

test('rounds', () => {
  const total = Math.floor(3.6);
  assert.strictEqual(total, 4);
});
test('pays', () => {
  pay();
});
test('is', () => {
  assert.deepStrictEqual({ a: 1 }, { a: 2 });
});
`,
};

/** A text that a test prints: reports of other tools, with empty lines. */
const REPORTS = [
  '',
  'TypeError: no price',
  '    at f (price.js:1:2)',
  '',
  'price.ts(1,7): error TS2322: no type.',
  '  ● price › adds',
  '',
  '    no jest',
  '  1) adds:',
  '     Error: no mocha',
  'not ok 1 - adds',
  "  error: 'no tap'",
  'price.c:1:2: error: no semicolon',
  'FAILED price.py::test_adds - no pytest',
  '',
].join('\\n');

/** Two test files, whose tests print reports of other tools. One test fails, unless `expected` is 3. */
const jestPrints = (expected: number): Files => ({
  'package.json': PACKAGE,
  'cart.test.js': `test('prints', () => { console.log("${REPORTS}"); console.error("${REPORTS}"); });
test('rounds', () => { console.warn(new Error('no cart')); expect(Math.floor(3.6)).toBe(${expected}); });\n`,
  'price.test.js': `test('prints', () => console.info("${REPORTS}"));\n`,
});

/** A test begins a report of another tool, and another test ends it. Errors that no test catches are errors of the user. */
const VITEST_PRINTS = (expected: number): string => `import { expect, it } from 'vitest';
it('prints', () => console.log("${REPORTS}"));
it('writes', () => process.stdout.write('Traceback (most recent call last):'));
it('rounds', () => expect(Math.floor(3.6)).toBe(${expected}));
it('begins', () => console.error('Traceback (most recent call last):\\n'));
it('ends', () => console.error('ValueError: no voice'));
it('sends', () => void (${expected} === 4 && Promise.reject(new TypeError('no address'))));
`;
const vitestPrints = (reporter: string): Recording => ({
  files: { 'package.json': MODULE, 'vite.config.js': 'export default {};\n', 'cart.test.js': VITEST_PRINTS(4) },
  run: ['node', join(REPOSITORY, 'vitest/vitest.mjs'), '--watch', '--root', '.', `--reporter=${reporter}`],
  steps: [{ when: /1 failed[^]*file changes/u, write: { 'cart.test.js': VITEST_PRINTS(3) } }],
  until: /6 passed[^]*file changes/u,
});

/** Suites within suites, with names that contain colons, and a failing hook. */
const SUITES = `const assert = require('node:assert');
describe('cart [x]', () => {
  it('> "q": ü', () => { throw new TypeError('no sum'); });
  describe('total: all', () => {
    describe('cents', () => { it('t: rounds', () => assert.strictEqual(Math.floor(3.6), 4)); });
  });
  describe('price', () => { before(() => { throw new Error('no shop'); }); it('is', () => {}); });
});
it('alone', () => { throw new Error('no'); });
`;

/** A test whose name TAP escapes. */
const NAMES = (expected: number): string => `import assert from 'node:assert';
import { test } from 'node:test';
test('item #1 \\\\ 2', () => assert.equal(1, ${expected}));
`;

export const RECORDINGS: Readonly<Record<string, Recording>> = {
  'jest-prints': { files: jestPrints(4), run: ['jest'] },
  'jest-prints-green': { files: jestPrints(3), run: ['jest'] },
  'jest-prints-verbose': { files: jestPrints(4), run: ['jest', '--verbose'] },
  'jest-prints-terminal': { files: jestPrints(4), run: ['jest'], terminal: true },
  'vitest-prints': vitestPrints('default'),
  'vitest-prints-dot': vitestPrints('dot'),
  'vitest-prints-verbose': vitestPrints('verbose'),
  'vitest-prints-terminal': { ...vitestPrints('default'), terminal: true },
  'vitest-two': VITEST_TWO,
  'vitest-two-terminal': { ...VITEST_TWO, terminal: true },
  'vite-two': VITE_TWO,
  'vite-two-terminal': { ...VITE_TWO, terminal: true },
  'vite-build-watch': {
    files: {
      'package.json': MODULE,
      'index.html': '<script type="module" src="/main.ts"></script>\n',
      'main.ts': "import './cart';\nimport './price';\n",
      'cart.ts': 'export const total = (;\n',
      'price.ts': 'export const price = 3;\n',
    },
    run: [join(REPOSITORY, '.bin/vite'), 'build', '--watch'],
    steps: [
      { when: /cart\.ts/u, write: { 'cart.ts': "import './missing';\n" } },
      { when: /missing/u, write: { 'cart.ts': SOUND } },
    ],
    until: /built in/u,
  },
  'node-test-watch': {
    files: {
      'cart.test.mjs':
        "import assert from 'node:assert';\nimport { test } from 'node:test';\ntest('rounds', () => assert.equal(Math.floor(3.6), 4));\n",
      'price.test.mjs':
        "import assert from 'node:assert';\nimport { test } from 'node:test';\ntest('adds', () => assert.equal(1 + 1, 3));\n",
    },
    run: ['node', '--test', '--watch'],
    terminal: true,
    steps: [
      {
        when: /duration_ms/u,
        write: {
          'cart.test.mjs':
            "import assert from 'node:assert';\nimport { test } from 'node:test';\ntest('rounds', () => assert.equal(Math.floor(3.6), 3));\n",
        },
      },
      {
        when: /duration_ms|rounds/u,
        write: {
          'price.test.mjs':
            "import assert from 'node:assert';\nimport { test } from 'node:test';\ntest('adds', () => assert.equal(1 + 1, 2));\n",
        },
      },
    ],
    until: /duration_ms|adds/u,
  },
  'node-test-slow': NODE_TEST_SLOW,
  'node-test-tap-watch': {
    ...NODE_TEST_SLOW,
    run: [...NODE_TEST_SLOW.run, '--test-reporter=tap'],
    steps: [
      { when: /# duration_ms/u, write: { 'cart.test.mjs': SLOW('rounds', 1) } },
      { when: /# duration_ms/u, write: { 'price.test.mjs': SLOW('adds', 1) } },
    ],
    until: /# duration_ms/u,
  },
  'node-test-load-watch': NODE_TEST_LOAD,
  'node-test-load-tap-watch': {
    ...NODE_TEST_LOAD,
    run: [...NODE_TEST_LOAD.run, '--test-reporter=tap'],
    steps: (NODE_TEST_LOAD.steps ?? []).map((each) => ({ ...each, when: /# duration_ms/u })),
    until: /# duration_ms/u,
  },
  'node-test-todo-tap': {
    files: {
      'cart.test.mjs': `import assert from 'node:assert';
import { test } from 'node:test';
test('rounds', { todo: true }, () => assert.equal(1, 2));
test('sums', (t) => { t.todo('later'); assert.equal(1, 2); });
test('adds', () => assert.equal(1, 2));
`,
    },
    run: ['node', '--test', '--test-reporter=tap'],
  },
  'vitest-verbose-load': LOAD(
    '.test.js',
    ['node', join(REPOSITORY, 'vitest/vitest.mjs'), '--watch', '--root', '.', '--reporter=verbose'],
    (expected) => `import { expect, test } from 'vitest';\ntest('rounds', () => expect(1).toBe(${expected}));\n`,
    /file changes/u,
  ),
  'mocha-watch-load': {
    ...LOAD(
      '.test.js',
      ['mocha', '--watch', '*.test.js'],
      (expected) => `const assert = require('node:assert');\nit('rounds', () => assert.equal(1, ${expected}));\n`,
      /waiting for changes|SyntaxError/u,
    ),
    terminal: true,
  },
  // The reporter dot does not name files that pass. First only price.test.js runs, then cart.test.js with its fixed module, then
  // price.test.js without an error.
  'vitest-dot-watch': {
    files: {
      'package.json': MODULE,
      'vite.config.js': 'export default {};\n',
      'sum.js': 'export const sum = 3;\n',
      'cart.test.js':
        "import { expect, test } from 'vitest';\nimport { sum } from './sum.js';\ntest('sums', () => expect(sum).toBe(2));\n",
      'price.test.js': FAILING('adds', 5),
    },
    run: ['node', join(REPOSITORY, 'vitest/vitest.mjs'), '--watch', '--root', '.', '--reporter=dot'],
    steps: [
      { when: /file changes/u, write: { 'price.test.js': FAILING('adds', 6) } },
      { when: /file changes/u, write: { 'sum.js': 'export const sum = 2;\n' } },
      { when: /file changes/u, write: { 'price.test.js': FAILING('adds', 3) } },
    ],
    until: /file changes/u,
  },
  // Mocha cannot load a file, first because of an exception and then because of a missing module.
  'mocha-watch-throws': {
    files: { 'package.json': PACKAGE, 'cart.test.js': "it('rounds', () => {});\n" },
    run: ['mocha', '--watch', '*.test.js'],
    steps: [
      { when: /waiting for changes/u, write: { 'cart.test.js': "throw new Error('no cart');\n" } },
      { when: /no cart/u, write: { 'cart.test.js': "require('./price');\n" } },
      { when: /find module/u, write: { 'cart.test.js': "it('rounds', () => {});\n" } },
    ],
    until: /waiting for changes/u,
  },
  // Mocha cannot load an ES module again, so the second run has no tests.
  'mocha-watch-modules': {
    files: { 'package.json': PACKAGE, 'cart.test.mjs': "it('rounds', () => {\n  throw new Error('no cart');\n});\n" },
    run: ['mocha', '--watch', '*.test.mjs'],
    steps: [{ when: /waiting for changes/u, write: { 'cart.test.mjs': "it('rounds', () => {});\n" } }],
    until: /waiting for changes/u,
  },
  // A file that a test file loads has a syntax error.
  'jest-syntax': {
    files: {
      'package.json': PACKAGE,
      'price.test.js': "require('./price');\ntest('is', () => {});\n",
      'price.js': 'const price = ;\n',
    },
    run: ['jest'],
  },
  'node-test-suites-watch': NODE_TEST_SUITES,
  'node-test-suites-tap-watch': {
    ...NODE_TEST_SUITES,
    run: [...NODE_TEST_SUITES.run, '--test-reporter=tap'],
    steps: (NODE_TEST_SUITES.steps ?? []).map((each) => ({ ...each, when: /# duration_ms/u })),
    until: /# duration_ms/u,
  },
  'node-test-values': { files: NODE_TEST_VALUES, run: ['node', '--test'] },
  'node-test-values-tap': { files: NODE_TEST_VALUES, run: ['node', '--test', '--test-reporter=tap'] },
  'vitest-syntax': {
    files: {
      'package.json': MODULE,
      'vite.config.js': 'export default {};\n',
      'cart.test.js': "import { it } from 'vitest';\nit('is', () => {\n  (;\n});\n",
    },
    run: ['node', join(REPOSITORY, 'vitest/vitest.mjs'), 'run', '--root', '.'],
  },
  'webpack-unused': {
    files: {
      ...WEBPACK,
      'cart.ts': 'console.log(1);\n',
      'price.ts': "export const price: number = 'four';\n",
    },
    run: ['webpack', 'build'],
  },
  'jest-empty': {
    files: { 'package.json': PACKAGE, 'empty.test.js': 'module.exports = 1;\n', 'sound.test.js': "test('is', () => {});\n" },
    run: ['jest'],
  },
  'pytest-line': {
    files: {
      'cart.py': 'def price(name):\n    raise KeyError(name)\n',
      'test_cart.py':
        "from cart import price\n\ndef test_price():\n    assert price('tea') == 3\n\ndef test_rounds():\n    assert round(3.4) == 4\n",
    },
    run: ['python3', '-m', 'pytest', '-p', 'no:cacheprovider', '--tb=line'],
  },
  'jest-watch-two': {
    files: {
      'package.json': PACKAGE,
      'cart.test.js': "test('rounds', () => { expect(Math.floor(3.6)).toBe(4); });\n",
      'price.test.js': "test('adds', () => { expect(1 + 1).toBe(3); });\n",
    },
    run: ['sh', '-c', 'git init -q && jest --watch'],
    terminal: true,
    steps: [
      {
        when: /Ran all test suites/u,
        write: { 'cart.test.js': "test('rounds', () => { expect(Math.round(3.6)).toBe(4); });\n" },
      },
      { when: /Ran all test suites/u, write: { 'price.test.js': "test('adds', () => { expect(1 + 1).toBe(2); });\n" } },
    ],
    until: /Ran all test suites/u,
  },
  'mocha-watch': {
    files: {
      'package.json': PACKAGE,
      'cart.test.js': "const assert = require('node:assert');\nit('rounds', () => assert.strictEqual(Math.floor(3.6), 4));\n",
      'price.test.js': "const assert = require('node:assert');\nit('adds', () => assert.strictEqual(1 + 1, 3));\n",
    },
    run: ['mocha', '--watch', '*.test.js'],
    terminal: true,
    steps: [
      {
        when: /waiting for changes/u,
        write: {
          'cart.test.js': "const assert = require('node:assert');\nit('rounds', () => assert.strictEqual(Math.floor(3.6), 3));\n",
        },
      },
      {
        when: /waiting for changes/u,
        write: { 'price.test.js': "const assert = require('node:assert');\nit('adds', () => assert.strictEqual(1 + 1, 2));\n" },
      },
    ],
    until: /waiting for changes/u,
  },
  'next-dev-two': {
    files: {
      ...NEXT,
      'app/page.jsx': PAGE.replace('<p>cart</p>', '<p>cart</q>'),
      'app/price/page.jsx': `import x from './missing';\n${PAGE}`,
    },
    run: ['next', 'dev', '--port', '38917', '--hostname', '127.0.0.1'],
    steps: [
      { when: /<p>[^]*missing|missing[^]*<p>/u, write: { 'app/page.jsx': PAGE } },
      { when: /GET \/ \d+[^]*GET \/ \d+/u, write: { 'app/price/page.jsx': PAGE } },
    ],
    until: /GET \/price 200/u,
  },
  'webpack-two': {
    files: {
      ...WEBPACK,
      'cart.ts': "import './price';\nconst total: number = 'three';\nconsole.log(total);\n",
      'price.ts': "export const price: number = 'four';\n",
    },
    run: ['webpack', 'watch'],
    steps: [
      { when: /compiled with 2 errors/u, write: { 'cart.ts': `import './price';\n${SOUND}` } },
      { when: /compiled with 1 error/u, write: { 'price.ts': SOUND } },
    ],
    until: /compiled successfully/u,
  },
  'go-test-panic': {
    files: {
      'go.mod': 'module shop\n\ngo 1.19\n',
      'cart.go': 'package shop\n\nfunc sum(all []int) int {\n\treturn all[3]\n}\n',
      'cart_test.go': `package shop

import "testing"

func TestSum(t *testing.T) {
	if sum([]int{1}) != 1 {
		t.Error("no")
	}
}
`,
    },
    run: ['go', 'test', './...'],
  },
  'go-deadlock': {
    files: {
      'go.mod': 'module shop\n\ngo 1.19\n',
      'cart.go': 'package main\n\nfunc main() {\n\t<-make(chan int)\n}\n',
    },
    run: ['go', 'run', '.'],
  },
  'pytest-short': {
    files: {
      'cart.py': 'def price(name):\n    raise KeyError(name)\n',
      'test_cart.py':
        "from cart import price\n\ndef test_price():\n    assert price('tea') == 3\n\ndef test_rounds():\n    assert round(3.4) == 4\n",
    },
    run: ['python3', '-m', 'pytest', '-p', 'no:cacheprovider', '--tb=short', '-q'],
  },
  'python-library': {
    files: { 'cart.py': "import json\n\ndef read(text):\n    return json.loads(text)\n\nread('{')\n" },
    run: ['python3', 'cart.py'],
  },
  mypy: {
    files: { 'cart.py': "def total(all: list[int]) -> int:\n    return 'three'\n\n\ntotal('a')\n" },
    run: ['mypy', 'cart.py'],
  },
  ruff: {
    files: { 'cart.py': 'import os\n\n\ndef total(all):\n    return prise\n' },
    run: ['ruff', 'check', '.'],
  },
  'ruff-concise': {
    files: { 'cart.py': 'import os\n\n\ndef total(all):\n    return prise\n' },
    run: ['ruff', 'check', '--output-format', 'concise', '.'],
  },
  'node-library': {
    files: {
      'package.json': MODULE,
      'node_modules/till/index.js': 'export function pay(all) {\n  return all.map((each) => each.price);\n}\n',
      'node_modules/till/package.json': '{"type":"module","main":"index.js"}',
      'app.js': "import { pay } from 'till';\n\nfunction checkout() {\n  pay(undefined);\n}\n\ncheckout();\n",
    },
    run: ['node', 'app.js'],
  },
  'mocha-suites': { files: { 'package.json': PACKAGE, 'cart.js': SUITES }, run: ['mocha', 'cart.js'] },
  'mocha-suites-dot': { files: { 'package.json': PACKAGE, 'cart.js': SUITES }, run: ['mocha', '--reporter', 'dot', 'cart.js'] },
  'go-test-panic-nested': {
    files: {
      'go.mod': 'module shop\n\ngo 1.19\n',
      'cart_test.go': `package shop

import "testing"

func TestCart(t *testing.T) {
	t.Run("pays", func(t *testing.T) { panic("no cart") })
}
`,
      'price/price_test.go': `package price

import "testing"

func TestAdds(t *testing.T) { t.Fatal("no sum") }
`,
    },
    run: ['go', 'test', './...'],
  },
  'node-test-names-tap': {
    files: { 'cart.test.mjs': NAMES(2) },
    run: ['node', '--test', '--watch', '--test-reporter=tap'],
    terminal: true,
    steps: [{ when: /# duration_ms/u, write: { 'cart.test.mjs': NAMES(1) } }],
    until: /# duration_ms/u,
  },
  'gcc-names': {
    files: { 'a b.c': 'int main(void) {\n  return x;\n}\n', 'c (1).c': '#include "no such.h"\n' },
    run: ['sh', '-c', 'for file in *.c; do gcc -c "$file"; done'],
  },
  'tsc-names': {
    files: { 'tsconfig.json': TSCONFIG, 'ü [id] (x).ts': BROKEN, 'a b.ts': BROKEN },
    run: [join(REPOSITORY, '.bin/tsc'), '--pretty', 'false'],
  },
  'tsc-watch': tscWatch(join(REPOSITORY, '.bin/tsc')),
  'tsc-same': {
    files: { 'tsconfig.json': TSCONFIG, 'cart.ts': SAME('5', '6') },
    run: [join(REPOSITORY, '.bin/tsc'), '--watch'],
    steps: [
      { when: /Found 2 errors/u, write: { 'cart.ts': `\n\n${SAME("'5'", '6')}` } },
      { when: /Found 1 error/u, write: { 'cart.ts': `const more: string = 7;\n${SAME("'5'", '6')}` } },
      { when: /Found 2 errors/u, write: { 'cart.ts': SAME("'5'", "'6'") } },
    ],
    until: /Found 0 errors/u,
  },
  // While one file has a syntax error, tsc does not report the wrong type in the other file.
  'tsc-syntax': {
    files: { 'tsconfig.json': TSCONFIG, 'cart.ts': BROKEN, 'price.ts': 'export const price = 3;\n' },
    run: [join(REPOSITORY, '.bin/tsc'), '--watch'],
    steps: [
      { when: /Found 1 error/u, write: { 'price.ts': 'export const price = ;\n' } },
      { when: /Found 1 error/u, write: { 'price.ts': 'export const price = 4;\n' } },
      { when: /Found 1 error/u, write: { 'cart.ts': SOUND } },
    ],
    until: /Found 0 errors/u,
  },
  'tsc-5-watch': tscWatch('tsc'),
  'tsc-5-terminal': { ...tscWatch('tsc'), run: ['tsc', '--pretty'], steps: [], until: /Found 2/u, terminal: true },
  eslint: {
    files: {
      'package.json': MODULE,
      'eslint.config.js': "export default [{ rules: { 'no-undef': 'error', 'no-unused-vars': 'warn', eqeqeq: 'error' } }];\n",
      'cart.js': 'const unused = 1;\nexport const is = (a) => a == total;\n',
      'price.js': 'export const = 1;\n',
    },
    run: ['eslint', '.'],
  },
  'eslint-terminal': {
    files: {
      'package.json': MODULE,
      'eslint.config.js': "export default [{ rules: { 'no-undef': 'error', 'no-unused-vars': 'warn' } }];\n",
      'cart.js': 'const unused = 1;\nexport const is = (a) => a === total;\n',
    },
    run: ['eslint', '.'],
    terminal: true,
  },
  'webpack-build': {
    files: {
      ...WEBPACK,
      'cart.ts': `import { price } from './missing';\nconst total: number = 'three';\nconsole.log(price, total);\n`,
    },
    run: ['webpack', 'build'],
  },
  'webpack-serve': {
    files: { ...WEBPACK, 'cart.ts': `import { price } from './missing';\nconsole.log(price);\n` },
    run: ['webpack', 'serve'],
    steps: [
      { when: /compiled with 2 errors/u, write: { 'cart.ts': 'const total = (;\n' } },
      { when: /compiled with \d+ errors?/u, write: { 'cart.ts': SOUND } },
    ],
    until: /compiled successfully/u,
  },
  'next-dev': {
    files: { ...NEXT, 'app/page.jsx': PAGE.replace('<p>cart</p>', '<p>cart</q>') },
    run: ['next', 'dev', '--port', '38917', '--hostname', '127.0.0.1'],
    steps: [
      { when: /⨯ |Error/u, write: { 'app/page.jsx': `import x from './missing';\n${PAGE}` } },
      { when: /missing/u, write: { 'app/page.jsx': PAGE.replace('return', "throw new Error('no cart');\n  return") } },
      { when: /no cart/u, write: { 'app/page.jsx': PAGE } },
    ],
    until: /GET \/ 200/u,
  },
  'next-build': { files: { ...NEXT, 'app/page.jsx': `import x from './missing';\n${PAGE}` }, run: ['next', 'build'] },
  jest: {
    files: {
      'package.json': PACKAGE,
      'cart.test.js': `test('rounds', () => { expect(Math.floor(3.6)).toBe(4); });
describe('cart', () => { test('sums up', () => { throw new TypeError('no sum'); }); test('is', () => { expect({ a: 1 }).toEqual({ a: 2 }); }); });\n`,
      'broken.test.js': "require('./nope');\n",
      'sound.test.js': "test('is', () => {});\n",
    },
    run: ['jest'],
  },
  'jest-watch': {
    files: { 'package.json': PACKAGE, 'cart.test.js': "test('rounds', () => { expect(Math.floor(3.6)).toBe(4); });\n" },
    run: ['jest', '--watchAll'],
    terminal: true,
    steps: [
      {
        when: /Ran all test suites/u,
        write: { 'cart.test.js': "test('rounds', () => { expect(Math.round(3.6)).toBe(4); });\n" },
      },
    ],
    until: /1 passed[^]*Ran all test suites/u,
  },
  'vitest-watch': {
    files: { 'package.json': MODULE, 'vite.config.js': 'export default {};\n', 'cart.test.js': SPEC },
    run: ['node', join(REPOSITORY, 'vitest/vitest.mjs'), '--watch', '--root', '.'],
    steps: [
      { when: /Test Files/u, write: { 'cart.test.js': SPEC.replace('floor', 'round') } },
      {
        when: /Test Files/u,
        write: { 'cart.test.js': SPEC.replace('floor', 'round').replace("throw new TypeError('no sum');", '') },
      },
    ],
    until: /2 passed/u,
  },
  'vitest-thrown': {
    files: { 'package.json': MODULE, 'vite.config.js': 'export default {};\n', 'cart.test.js': THROWN },
    run: ['node', join(REPOSITORY, 'vitest/vitest.mjs'), '--watch', '--root', '.'],
    steps: [{ when: /Errors[^]*file changes/u, write: { 'cart.test.js': FAILING('rounds', 3) } }],
    until: /1 passed[^]*file changes/u,
  },
  'vitest-printed': {
    files: { 'package.json': MODULE, 'vite.config.js': 'export default {};\n', 'cart.test.js': PRINTED(4) },
    run: ['node', join(REPOSITORY, 'vitest/vitest.mjs'), '--watch', '--root', '.'],
    steps: [{ when: /1 failed[^]*file changes/u, write: { 'cart.test.js': PRINTED(3) } }],
    until: /2 passed[^]*file changes/u,
  },
  'esbuild-watch': {
    files: { 'package.json': PACKAGE, 'cart.ts': "import { price } from './missing';\nconst total = ;\n" },
    run: ['esbuild', 'cart.ts', '--bundle', '--outfile=out.js', '--watch=forever'],
    steps: [
      { when: /ERROR/u, write: { 'cart.ts': "import { price } from './missing';\nconsole.log(price);\n" } },
      { when: /Could not resolve/u, write: { 'cart.ts': SOUND } },
    ],
    until: /\[watch\] build finished[^]*\[watch\] build finished|build finished/u,
  },
  'node-watch': {
    files: { 'app.mjs': "setTimeout(() => { throw new TypeError('no cart'); }, 10);\n" },
    run: ['node', '--watch', 'app.mjs'],
    steps: [
      { when: /Failed running/u, write: { 'app.mjs': "import './missing.mjs';\n" } },
      { when: /Failed running/u, write: { 'app.mjs': "console.log('the cart is there');\n" } },
    ],
    until: /the cart is there/u,
  },
  nodemon: {
    files: { 'package.json': PACKAGE, 'app.js': "JSON.parse('{');\n" },
    run: ['nodemon', 'app.js'],
    steps: [{ when: /app crashed/u, write: { 'app.js': "console.log('the cart is there');\n" } }],
    until: /clean exit/u,
  },
  'tsx-watch': {
    files: { 'package.json': MODULE, 'app.ts': 'const cart: { sum?: () => number } = {};\ncart.sum!();\n' },
    run: ['tsx', 'watch', 'app.ts'],
    steps: [{ when: /TypeError/u, write: { 'app.ts': "console.log('the cart is there');\n" } }],
    until: /the cart is there/u,
  },
  mocha: {
    files: {
      'package.json': PACKAGE,
      'cart.js': `const assert = require('node:assert');
describe('cart', () => { it('rounds', () => assert.strictEqual(Math.floor(3.6), 4)); it('sums up', () => { throw new TypeError('no sum'); }); it('is', () => {}); });\n`,
    },
    run: ['mocha', 'cart.js'],
  },
  'go-build': {
    files: {
      'go.mod': 'module shop\n\ngo 1.19\n',
      'cart.go': 'package main\n\nimport "os"\n\nfunc main() {\n\tvar total int = "three"\n\tprice()\n}\n',
    },
    run: ['go', 'build', './...'],
  },
  'go-vet': {
    files: {
      'go.mod': 'module shop\n\ngo 1.19\n',
      'cart.go': 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Printf("%d\\n", "three")\n}\n',
    },
    run: ['go', 'vet', './...'],
  },
  'go-test': {
    files: {
      'go.mod': 'module shop\n\ngo 1.19\n',
      'cart_test.go': `package shop

import "testing"

func TestRounds(t *testing.T) {
	if got := int(3.6 / 1.2); got != 4 {
		t.Errorf("got %d, want 4", got)
	}
}

func TestCart(t *testing.T) {
	t.Run("sums up", func(t *testing.T) { t.Fatal("no sum") })
	t.Run("is", func(t *testing.T) {})
}
`,
    },
    run: ['go', 'test', './...'],
  },
  'go-panic': {
    files: {
      'go.mod': 'module shop\n\ngo 1.19\n',
      'cart.go': 'package main\n\nfunc sum(all []int) int {\n\treturn all[3]\n}\n\nfunc main() {\n\tprintln(sum([]int{1}))\n}\n',
    },
    run: ['go', 'run', '.'],
  },
  'pytest-collection': {
    files: {
      'test_cart.py': 'import nothing_like_this\n\ndef test_is():\n    pass\n',
      'test_price.py': 'def test_price(:\n    pass\n',
    },
    run: ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'],
  },
  'pytest-terminal': {
    files: {
      'test_cart.py':
        "import pytest\n\n@pytest.fixture\ndef cart():\n    raise ValueError('no cart')\n\ndef test_is(cart):\n    pass\n\ndef test_rounds():\n    assert round(3.4) == 4\n",
    },
    run: ['python3', '-m', 'pytest', '-p', 'no:cacheprovider'],
    terminal: true,
  },
  'python-unittest': {
    files: {
      'test_cart.py':
        "import unittest\n\nclass Cart(unittest.TestCase):\n    def test_rounds(self):\n        self.assertEqual(round(3.4), 4)\n\n    def test_sum(self):\n        raise ValueError('no sum')\n",
    },
    run: ['python3', '-m', 'unittest'],
  },
  'cargo-check': {
    files: {
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/main.rs': 'fn main() {\n    let unused = 1;\n    let total: i32 = "three";\n    println!("{}", total + price());\n}\n',
    },
    run: ['cargo', 'check', '--offline'],
    terminal: true,
  },
  'vite-dev': VITE,
  'vite-dev-terminal': { ...VITE, terminal: true },
};

/** The URLs that a recording requests at intervals, because a dev server builds only requested pages and modules. */
const ASKED: Readonly<Record<string, string | readonly string[]>> = {
  'next-dev-two': ['http://127.0.0.1:38917/', 'http://127.0.0.1:38917/price'],
  'vite-two': ['main', 'cart', 'price'].map((name) => `http://127.0.0.1:38918/${name}.ts`),
  'vite-two-terminal': ['main', 'cart', 'price'].map((name) => `http://127.0.0.1:38918/${name}.ts`),
  'next-dev': 'http://127.0.0.1:38917/',
  'vite-dev': 'http://127.0.0.1:38918/cart.ts',
  'vite-dev-terminal': 'http://127.0.0.1:38918/cart.ts',
};

async function record(name: string, { files, run, steps = [], until, terminal }: Recording, packages: string): Promise<void> {
  const folder = join(packages, 'projects', name);
  rmSync(folder, { recursive: true, force: true });
  write(folder, files);
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([key]) => !/^(?:CI|NODE_|npm_|VITEST|FORCE_COLOR|NO_COLOR)/u.test(key)),
    ),
    PATH: `${join(packages, 'node_modules/.bin')}:${process.env['PATH']}`,
    ROOT: packages,
    NEXT_TELEMETRY_DISABLED: '1',
    COLUMNS: '120',
  };
  const [program = '', ...args] = run;
  const parts: Buffer[] = [];
  let heardAt = performance.now();
  let ended = false;
  const hear = (chunk: Buffer): void => {
    parts.push(chunk);
    heardAt = performance.now();
  };
  let stop: () => void;
  if (terminal) {
    const pty = spawnPty(program, args, { cwd: folder, env, cols: 120, rows: 40, encoding: null });
    pty.onData((data) => hear(Buffer.from(data)));
    pty.onExit(() => (ended = true));
    stop = () => pty.kill('SIGKILL');
  } else {
    const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', hear);
    child.once('close', () => (ended = true)).once('error', (error) => hear(Buffer.from(`${error.message}\n`)));
    stop = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
  }
  const began = performance.now();
  const asking = [ASKED[name] ?? []].flat();
  const asks = setInterval(() => {
    for (const address of asking) fetch(address, { signal: AbortSignal.timeout(10_000) }).catch(() => {});
  }, 2_000);
  let from = 0;
  const texts = (): string => Buffer.concat(parts).toString('utf8').slice(from);
  const left = [...steps, ...(until === undefined ? [] : [{ when: until, write: {} }])];
  while (!ended && performance.now() - began < AT_MOST_MS) {
    await pause(50);
    const [step] = left;
    if (step === undefined || !step.when.test(texts()) || performance.now() - heardAt < 1_000) continue;
    left.shift();
    parts.push(Buffer.from(SILENCE));
    from = Buffer.concat(parts).toString('utf8').length;
    write(folder, step.write);
    if (left.length === 0) break;
  }
  clearInterval(asks);
  if (!ended) stop();
  if (left.length > 0) console.error(`${name}: ended before ${String(left[0]?.when)}`);
  const text = Buffer.concat(parts).toString('latin1');
  const plain = (path: string): string => Buffer.from(path).toString('latin1');
  const clean = [folder, packages, dirname(REPOSITORY)]
    .reduce((left, path) => left.replaceAll(plain(path), '/shop'), text)
    .replaceAll(`./projects/${name}/`, './')
    .replaceAll(plain(homedir()), '/home/ann');
  writeFileSync(join(OUTPUTS, `${name}.txt`), Buffer.from(clean, 'latin1'));
  console.log(`${name}: ${text.length} bytes`);
}

function write(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

if (import.meta.main) {
  const [packages, ...names] = process.argv.slice(2);
  if (packages === undefined) throw new Error(`name a folder, in which you ran: npm install ${PACKAGES}`);
  for (const [name, recording] of Object.entries(RECORDINGS))
    if (names.length === 0 || names.includes(name)) await record(name, recording, resolve(packages));
}

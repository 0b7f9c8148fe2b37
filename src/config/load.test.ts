import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { EarpieceError } from '../core/errors.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { world } from './fixtures.ts';
import { loadConfig, projectPlace, stateFolder, trustBook, userConfigFile } from './index.ts';

describe('without any configuration', () => {
  test('the defaults apply to everything', () => {
    const { read, repository, home } = world();
    const { config, problems } = read();
    expect(problems).toEqual([]);
    expect(config.policy).toEqual(DEFAULT_POLICY);
    expect(config).toMatchObject({
      project: 'web',
      projectRoot: repository,
      db: join(home, '.local/state/earpiece/earpiece.db'),
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      gateway: { separator: '__', servers: {}, http: { host: '127.0.0.1', port: 4748 }, profiles: {}, leftOut: {}, problems: [] },
      server: { host: '127.0.0.1', port: 4747 },
      tools: {},
      files: [],
      untrusted: [],
    });
    expect(config.address).toBeUndefined();
  });
});

describe('which file counts', () => {
  test('only the nearest file from the working folder to the root of the repository applies', () => {
    const { read, write, repository } = world({ project: 'view = "json"\nmax_open = 7' });
    const deep = write('web/a/b/file', '').replace(/\/file$/, '');
    expect(read({ cwd: deep }).config.policy.view).toBe('json');
    write('web/a/earpiece.toml', 'view = "xml"');
    const { config } = read({ cwd: deep });
    expect(config.policy).toMatchObject({ view: 'xml', maxOpen: DEFAULT_POLICY.maxOpen });
    expect(config).toMatchObject({ project: 'web', projectRoot: repository });
  });

  test('a file above the root of the repository does not apply', () => {
    const { read, write } = world();
    write('earpiece.toml', 'view = "xml"');
    expect(read().config.policy.view).toBe('default');
  });

  test('in a worktree, where .git is a file, the root of the worktree is used', () => {
    const { read, write } = world();
    write('tree/.git', 'gitdir: /elsewhere');
    const cwd = write('tree/src/x', '').replace(/\/x$/, '');
    expect(read({ cwd }).config.project).toBe('tree');
  });

  test('outside a repository, only the file in the working folder applies', () => {
    const { write, home } = world();
    mkdirSync(join(home, 'notes/deep'), { recursive: true });
    write(join(home, 'notes/earpiece.toml'), '');
    expect(projectPlace(join(home, 'notes/deep'))).toEqual({
      root: join(home, 'notes/deep'),
      candidates: [join(home, 'notes/deep/earpiece.toml')],
    });
    expect(projectPlace(join(home, 'notes')).candidates).toEqual([join(home, 'notes/earpiece.toml')]);
  });

  test('a link to a folder counts as the folder', () => {
    const { read, repository, home } = world({ project: 'view = "xml"' });
    symlinkSync(repository, join(home, 'link'));
    const { config } = read({ cwd: join(home, 'link') });
    expect(config).toMatchObject({ project: 'web', projectRoot: repository, policy: { view: 'xml' } });
  });

  test('a missing working folder is not an error', () => {
    const { read, home } = world();
    const cwd = join(home, 'gone');
    mkdirSync(cwd);
    rmSync(cwd, { recursive: true });
    expect(read({ cwd })).toMatchObject({ config: { project: 'gone' }, problems: [] });
  });

  test('XDG folders are used if they are absolute', () => {
    const at = { env: { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: 'relative' }, home: '/h' };
    expect(userConfigFile(at)).toBe('/c/earpiece/earpiece.toml');
    expect(stateFolder(at)).toBe('/h/.local/state/earpiece');
    expect(stateFolder({ env: { HOME: '/me' } })).toBe('/me/.local/state/earpiece');
  });

  test('a folder with the name of the file, or an unreadable file, is reported', () => {
    const { read, projectFile, userFile, write } = world();
    mkdirSync(projectFile);
    expect(read().problems).toEqual([
      '…/web/earpiece.toml: cannot be read (EISDIR); make the path a readable file, or remove the path',
    ]);
    write(userFile, 'view = "xml"');
    chmodSync(userFile, 0);
    // File permissions do not apply to root.
    if (process.getuid?.() !== 0) expect(read().problems).toHaveLength(2);
  });
});

describe('the order of layers', () => {
  test('flags override the environment, which overrides the project, the user and the defaults, in this order', () => {
    const { read } = world({
      project: 'view = "json"\nmax_open = 3\ninterrupt = "after"\n[budget]\nmax_items = 3',
      user: 'view = "toon"\nmax_open = 4\ninterrupt = "after"\nretention = "4d"\n[budget]\nmax_items = 4\nmax_tokens = 400',
    });
    const { config, problems } = read({
      env: {
        EARPIECE_VIEW: 'xml',
        EARPIECE_MAX_OPEN: '2',
        EARPIECE_INTERRUPT: '',
        EARPIECE_ENABLE: 'off',
        EARPIECE_WAKE_INFO: 'auto',
      },
      flags: { view: 'markdown', 'ttl.info': 'never', redact: ['a'], db: undefined },
    });
    expect(problems).toEqual([]);
    expect(config.policy).toEqual({
      ...DEFAULT_POLICY,
      view: 'markdown',
      maxOpen: 2,
      interrupt: 'after',
      maxItems: 3,
      maxTokens: 400,
      retentionMs: 4 * 86_400_000,
      enable: false,
      wake: { ...DEFAULT_POLICY.wake, info: 'auto' },
      ttlMs: { ...DEFAULT_POLICY.ttlMs, info: null },
      redact: ['a'],
    });
  });

  test('every part of the policy can be configured', () => {
    const { read, options, projectFile } = world({
      project: `
        view = "signal_ja"
        interrupt = "after"
        min_level = "warning"
        max_defer = "5m"
        max_open = 50
        retention = "7d"
        redact = ["sk-\\\\w+"]
        budget = { max_items = 5, max_tokens = 300, max_item_chars = 500 }
        ttl = { info = "1h", warning = "2h", error = "3h", critical = "1d 12h" }
        wake = { info = "ask", warning = "ask", error = "auto", critical = "never", quiet = "22:30-7:00", max_per_hour = 5 }
        coalesce = { window = "0s", sources.file = "10s" }
        max_level = { "*" = "warning", webhook = "error" }
        withheld = { max_bytes = 4096, keep = "1h" }
        lease.lasts = "5s"
        tasks.retention = "90d"
        core.kinds = ["deploy.*"]
        [conversation.notifications]
        enable = false
        [conversation.notifications.kinds]
        "handle.stopped" = false
        mcp = { enable = false, reconnected = true }
        [conversation.tools.build]
        source = "builtin"
        stateful = true
        notifications.waiting = false
        spawn.notifications = { on_success = false, on_content = true }
        spawn.lifecycle.on_turn_end = "abort"
        [conversation.tools.other]
        source = "mcp"`,
    });
    trustBook(options()).trust(projectFile);
    const { config, problems } = read();
    expect(problems).toEqual([]);
    expect(config.policy).toEqual({
      enable: false,
      minLevel: 'warning',
      kinds: { mcp: { enable: false, names: { reconnected: true } } },
      flat: { 'handle.stopped': false },
      tools: { build: { stopped: false, waiting: false, content: true } },
      core: [...DEFAULT_POLICY.core, 'deploy.*'],
      maxItems: 5,
      maxTokens: 300,
      coalesceMs: { '*': 0, file: 10_000 },
      maxDeferMs: 300_000,
      ttlMs: { info: 3_600_000, warning: 7_200_000, error: 10_800_000, critical: 129_600_000 },
      maxOpen: 50,
      view: 'signal_ja',
      interrupt: 'after',
      wake: { info: 'ask', warning: 'ask', error: 'auto', critical: 'never' },
      wakeQuiet: { from: 1_350, to: 420 },
      wakeMaxPerHour: 5,
      maxLevel: { '*': 'warning', webhook: 'error' },
      maxItemChars: 500,
      withheld: { maxBytes: 4_096, keepMs: 3_600_000 },
      redact: ['sk-\\w+'],
      retentionMs: 604_800_000,
      taskRetentionMs: 7_776_000_000,
      leaseMs: 5_000,
    });
    expect(config.tools).toEqual({ build: { source: 'builtin', stateful: true, onTurnEnd: 'abort' }, other: { source: 'mcp' } });
  });

  test('a source that the project turns off is off, regardless of the kinds in the user file', () => {
    const kinds = '[conversation.notifications.kinds]\n';
    const user = `${kinds}"mcp.disconnected" = true\n"tool.failed" = false\nmcp.reconnected = true`;
    const { read } = world({ project: `${kinds}mcp.enable = false`, user });
    expect(read().config.policy).toMatchObject({ kinds: { mcp: { enable: false, names: {} } }, flat: { 'tool.failed': false } });
    expect(read().config.policy.flat).not.toHaveProperty('mcp.disconnected');
    const other = world({ project: `${kinds}mcp.enable = true`, user: `${kinds}mcp.enable = false\n"mcp.disconnected" = false` });
    expect(other.read().config.policy).toMatchObject({ kinds: { mcp: { enable: true } }, flat: { 'mcp.disconnected': false } });
  });

  test('the file of the project overrides the user file even if the files spell the key differently', () => {
    const { read } = world({
      project:
        '[conversation.notifications.kinds.mcp]\nreconnected = false\n[conversation.tools.t.spawn.notifications]\non_success = false',
      user: '[conversation.notifications.kinds]\n"mcp.reconnected" = true\n[conversation.tools.t.notifications]\nstopped = true',
    });
    const { policy } = read().config;
    expect(policy.flat).toEqual({});
    expect(policy.kinds).toEqual({ mcp: { names: { reconnected: false } } });
    expect(policy.tools).toEqual({ t: { content: false, stopped: false } });
  });

  test('only a setting of its notifications filters the notifications of a tool', () => {
    const { read } = world({
      user: '[conversation.tools.a]\nsource = "mcp"\nstateful = true\nspawn.lifecycle.on_turn_end = "abort"\n[conversation.tools.b]\nnotifications.failed = true',
    });
    expect(read().config.policy.tools).toEqual({ b: { content: false, failed: true } });
  });

  test('the entries of protective lists in all layers take effect', () => {
    const { read } = world({
      project: 'redact = ["b"]\n[core]\nkinds = []',
      user: 'redact = ["a"]\n[core]\nkinds = ["a.*", "user.*"]',
    });
    expect(read().config.policy).toMatchObject({ redact: ['b', 'a'], core: [...DEFAULT_POLICY.core, 'a.*'] });
  });

  test('a redact list with an invalid pattern still takes effect, in any file', () => {
    proves('queue:patterns');
    const { read } = world({ project: 'redact = ["sk-1", "("]' });
    const { config, problems } = read({ env: { EARPIECE_REDACT: '(?=x)' } });
    expect(config.policy.redact).toEqual(['(?=x)', 'sk-1', '(']);
    expect(problems).toEqual([
      expect.stringMatching(/^EARPIECE_REDACT has "\(\?=x\)" as element 1: lookahead/u),
      '…/web/earpiece.toml:1:19: redact has "(" as element 2: the pattern is not a regular expression of RE2 (missing closing )); correct the pattern',
    ]);
  });

  test.each(['redact = ["sk-1"]\nview = [', 'view = [\n"redact" = ["sk-1"]', '{ redact= '])(
    'a broken file that sets redact does not switch redaction off: %j',
    (project) => {
      proves('config:broken-redact');
      const { config, problems } = world({ project, user: 'redact = ["sk-2"]' }).read();
      expect(config.policy.redact).toEqual(['(', 'sk-2']);
      expect(problems).toEqual([
        expect.stringMatching(
          /is not valid TOML: .*; the redact list of this file cannot be read, so whole texts are redacted until you fix the file/u,
        ),
      ]);
      // A broken file that does not set `redact` redacts nothing.
      expect(world({ project: 'view = [' }).read().config.policy.redact).toEqual([]);
    },
  );

  test('names such as constructor are ordinary names', () => {
    const { read } = world({
      project:
        '[conversation.notifications.kinds.constructor]\n__proto__ = false\n[conversation.tools.__proto__]\nstateful = true',
    });
    const { policy, tools } = read().config;
    expect(Object.keys(policy.kinds)).toEqual(['constructor']);
    expect(Object.keys(policy.kinds['constructor']?.names ?? {})).toEqual(['__proto__']);
    expect(Object.keys(tools)).toEqual(['__proto__']);
    expect(policy.kinds['toString']).toBeUndefined();
  });

  test('the valid parts of a broken file and the other file take effect', () => {
    const { read } = world({ project: 'view = "json"\nmax_open = 0', user: 'view = [' });
    const { config, problems } = read();
    expect(config.policy).toMatchObject({ view: 'json', maxOpen: DEFAULT_POLICY.maxOpen });
    expect(problems).toEqual([
      '…/web/earpiece.toml:2:12: max_open is 0; write a whole number from 1 to 1000000',
      '…/home/.config/earpiece/earpiece.toml:1:8: is not valid TOML: unfinished array, in "view = ["; see https://toml.io',
    ]);
  });
});

describe('variables and flags', () => {
  test('invalid values are all reported at once', () => {
    const { options } = world({ project: 'max_open = 0' });
    const load = (): unknown =>
      loadConfig(
        options({
          env: { EARPIECE_VIEW: 'xlm', EARPIECE_BUDGET_MAX_ITEMS: '1e3', EARPIECE_ENABLE: 'maybe', EARPIECE_RETENTION: '30' },
          flags: { 'budget.max_tokens': 3, veiw: 'xml', 'a b': '1', interrupt: 'later' },
        }),
      );
    let error: unknown;
    try {
      load();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(EarpieceError);
    const { code, message, data, retryable } = error as EarpieceError;
    expect({ code, retryable }).toEqual({ code: 'bad_config', retryable: false });
    expect(data['problems']).toHaveLength(9);
    expect(message.replaceAll(options().cwd, '…').split('\n')).toEqual([
      'the configuration has 9 problems:',
      '  flag --budget.max_tokens is 3; write a whole number from 50 to 1000000',
      '  flag --veiw is not a setting; did you mean --view?',
      '  flag --a b is not a setting',
      '  flag --interrupt is "later"; write one of before, after',
      '  EARPIECE_VIEW is "xlm"; did you mean "xml"? Write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja',
      '  EARPIECE_RETENTION is 30, without a unit; write a duration such as "30d", from "1h" to "3650d"',
      '  EARPIECE_BUDGET_MAX_ITEMS is "1e3"; write a whole number from 1 to 1000',
      '  EARPIECE_ENABLE is "maybe"; write true or false',
      '  …/earpiece.toml:1:12: max_open is 0; write a whole number from 1 to 1000000',
    ]);
  });

  test('the project, the address and the time zone can be set in a file and in variables', () => {
    const { read } = world({ project: 'project = "shop"\naddress = "reviewer"\ntime_zone = "Europe/Berlin"' });
    expect(read().config).toMatchObject({ project: 'shop', address: 'reviewer', timeZone: 'Europe/Berlin' });
    const env = { EARPIECE_PROJECT: 'other', EARPIECE_ADDRESS: 'shop/reviewer#s1', EARPIECE_TIME_ZONE: 'UTC' };
    expect(read({ env }).config).toMatchObject({ project: 'other', address: 'shop/reviewer#s1', timeZone: 'UTC' });
  });

  test('a folder name that is not a valid project name is converted', () => {
    const { read, write } = world();
    write('we#b *2/.git', '');
    expect(read({ cwd: join(world().repository, '../../nowhere') }).problems).toEqual([]);
    expect(read({ cwd: write('we#b *2/x', '').replace(/\/x$/, '') }).config.project).toBe('we-b -2');
  });
});

describe('the database', () => {
  test.each([
    ['/abs/x.db', '/abs/x.db'],
    ['~/x.db', '…/home/x.db'],
    ['x.db', '…/web/x.db'],
    ['sqlite:x.db', '…/web/x.db'],
    ['sqlite:///abs/x.db', 'sqlite:///abs/x.db'],
    ['memory:', 'memory:'],
    ['postgres://host/db', 'postgres://host/db'],
    ['nats://host', 'nats://host'],
  ])('EARPIECE_DB=%s', (given, expected) => {
    const { read, short } = world();
    expect(short(read({ env: { EARPIECE_DB: given } }).config.db)).toBe(expected);
    expect(short(read({ flags: { db: given } }).config.db)).toBe(expected);
  });

  test("a relative path in the user's file is relative to that file", () => {
    const { read, short } = world({ user: 'db = "mine.db"' });
    expect(short(read().config.db)).toBe('…/home/.config/earpiece/mine.db');
  });

  test('the default database is in the state folder that the environment names', () => {
    expect(world().read({ env: { XDG_STATE_HOME: '/var/state' } }).config.db).toBe('/var/state/earpiece/earpiece.db');
  });
});

describe('the gateway', () => {
  const servers = `
    [gateway.servers.files]
    command = "npx"
    args = ["-y", "\${PACKAGE:-some-server}", "\${env:FOLDER}"]
    env = { TOKEN = "\${TOKEN}" }
    cwd = "work"
    [gateway.servers.remote]
    url = "https://\${HOST}/mcp"
    headers = { Authorization = "Bearer \${TOKEN}" }
    transport = "sse"
    prefix = "r"
    [gateway.servers.off]
    enable = false
    command = "\${NOT_SET}"
    [gateway]
    separator = "-"
    http = { host = "0.0.0.0", port = 0, token_env = "GATEWAY_TOKEN" }
    [gateway.profiles]
    "my-client" = "blocks"
    "other" = { kind = "extend", max_result_chars = 20000 }`;

  test('servers get their variables and folders, and clients get their profiles', () => {
    const { read, short } = world({ user: servers });
    const { config, problems } = read({ env: { TOKEN: 't0p', HOST: 'example.com', FOLDER: '/data' } });
    expect(problems).toEqual([]);
    expect(short(JSON.stringify(config.gateway))).toBe(
      JSON.stringify({
        separator: '-',
        servers: {
          files: {
            prefix: 'files',
            target: {
              kind: 'stdio',
              command: 'npx',
              args: ['-y', 'some-server', '/data'],
              env: { TOKEN: 't0p' },
              cwd: '…/home/.config/earpiece/work',
            },
          },
          remote: {
            prefix: 'r',
            target: { kind: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer t0p' }, sse: true },
          },
        },
        http: { host: '0.0.0.0', port: 0, tokenEnv: 'GATEWAY_TOKEN' },
        profiles: { 'my-client': { kind: 'blocks' }, other: { kind: 'extend', maxResultChars: 20_000 } },
        leftOut: {},
        problems: [],
      }),
    );
  });

  test('only a server with an unset variable is left out', () => {
    const { read, short } = world({ user: `${servers}\n[gateway.servers.a-b]\ncommand = "x"` });
    const { config, problems } = read({ env: { HOST: 'example.com', TOKEN: 'x' } });
    expect(problems).toEqual([]);
    expect(Object.keys(config.gateway.servers)).toEqual(['remote']);
    expect(
      config.gateway.problems.map(({ file, line, column, message }) => short(`${file}:${line}:${column}: ${message}`)),
    ).toEqual([
      '…/home/.config/earpiece/earpiece.toml:2:22: gateway.servers.files needs FOLDER, which is not set; export the variable, or write ${FOLDER:-default}',
      '…/home/.config/earpiece/earpiece.toml:21:18: gateway.servers.a-b has the separator "-" in its prefix "a-b"; set another prefix',
    ]);
  });

  test('a server with an invalid entry is left out by name; a name from a project is used only if its servers are trusted', () => {
    const wrong = '[gateway.servers.bad]\ncomand = "npx"\n';
    expect(Object.keys(world({ user: wrong }).read().config.gateway.leftOut)).toEqual(['bad']);
    const { read, projectFile, options } = world({ project: `${wrong}[gateway.servers.good]\ncommand = "x"\n` });
    expect(read().config.gateway.leftOut).toEqual({});
    trustBook(options()).trust(projectFile);
    expect(Object.keys(read().config.gateway.leftOut)).toEqual(['bad']);
  });

  test('a server of the project replaces the whole entry of the user', () => {
    const { read, options } = world({
      user: '[gateway.servers.a]\ncommand = "mine"\nenv = { TOKEN = "secret" }',
      project: '[gateway.servers.a]\nurl = "http://127.0.0.1:1/mcp"',
    });
    expect(read().config.gateway.servers['a']?.target).toMatchObject({ command: 'mine' });
    trustBook(options()).trust(join(options().cwd, 'earpiece.toml'));
    expect(read().config.gateway.servers['a']?.target).toEqual({ kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} });
  });
});

import { EarpieceError } from '../core/errors.ts';

/** Throws `bad_argument` for a name that cannot be part of a tool's name. Hosts accept only letters, digits, `_` and `-`. */
export function checkName(name: string): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw new EarpieceError(
      'bad_argument',
      `--name ${JSON.stringify(name.slice(0, 80))} is not a valid name; use at most 64 letters, digits, "_" and "-"`,
    );
}

/**
 * Returns the default name of a server: the name of its package, image, module, script or host. Runners such as `npx`, `uv run`
 * and `docker run` are skipped, and so are words that many servers share (`mcp`, `server`, `index.js`). If no word is left, the
 * name is `server`.
 */
export function serverName(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  if (/^https?:\/\//i.test(first) && rest.length === 0) return fromUrl(first);
  return thingIn(first, rest, 0) ?? 'server';
}

const options = (words: string): readonly string[] => words.split(/\s+/).filter((word) => word !== '');

/** For each runner, the options that take the next word as their value. */
const NPM = ['-p', '--package', '-c', '--call', '-w', '--workspace', '--registry', '--prefix', '--cache', '--userconfig'];
const UV = options(`
  --directory --project --with --with-editable --with-requirements --python -p --env-file --extra --group
  --package --from --index --index-url --default-index --extra-index-url --config-file --cache-dir -c
  --constraints --refresh-package --color --no-binary-package
`);
const NODE = ['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions', '--tsconfig'];
const PYTHON = ['-X', '-W', '--check-hash-based-pycs'];
const DOCKER = options(`
  -e --env --env-file -v --volume --volumes-from --mount -p --publish --expose --name --network --net
  --network-alias --ip -w --workdir -u --user --entrypoint --platform -m --memory --memory-swap --cpus -c
  --cpu-shares --cpuset-cpus -l --label --label-file --add-host -h --hostname --pull --gpus --cap-add --cap-drop
  --security-opt --tmpfs --ulimit --device --dns --log-driver --log-opt --restart --shm-size --runtime
  --pids-limit --ipc --pid --userns --stop-signal --stop-timeout --sysctl --cidfile --cgroup-parent --group-add
  --annotation -a --attach
`);

/** Wrappers that run the command after their options. Each has the list of its options that take a value. */
const WRAPPERS: Readonly<Record<string, readonly string[]>> = {
  env: ['-u', '--unset', '-C', '--chdir', '-S'],
  sudo: ['-u', '--user', '-g', '--group', '-C', '-h'],
  nice: ['-n', '--adjustment'],
  nohup: [],
  time: [],
  timeout: ['-k', '--kill-after', '-s', '--signal'],
  stdbuf: ['-i', '-o', '-e'],
};

function thingIn(program: string, args: readonly string[], depth: number): string | undefined {
  if (depth > 4) return undefined;
  const name = baseOf(program).replace(/\.(exe|cmd|bat)$/i, '');
  const again = ([next = '', ...rest]: readonly string[]): string | undefined =>
    next === '' ? undefined : thingIn(next, rest, depth + 1);
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper) {
    const words = positionals(args, wrapper).filter((word, index) => !(index === 0 && name === 'timeout'));
    return again(words.slice(words.findIndex((word) => !/^\w+=/.test(word))));
  }
  if (/^(ba|z|da|fi|k)?sh$/.test(name)) {
    const at = args.findIndex((word) => /^-\w*c$/.test(word));
    return at === -1 ? fromPath(positionals(args, [])[0]) : again((args[at + 1] ?? '').replace(/^exec\s+/, '').split(/\s+/));
  }
  if (/^cmd$/i.test(name)) return again(args.filter((word, index) => !(index === 0 && /^\/c$/i.test(word))));
  switch (name) {
    case 'npx':
    case 'bunx':
    case 'pnpx':
      return fromPackage(positionals(args, NPM)[0]);
    case 'npm':
    case 'pnpm':
    case 'yarn':
    case 'bun': {
      const [verb, thing] = positionals(args, NPM);
      if (['exec', 'x', 'dlx'].includes(verb ?? '')) return fromPackage(thing);
      return name === 'bun' ? fromPath(verb === 'run' ? thing : verb) : (cleaned(thing) ?? cleaned(verb));
    }
    case 'uvx':
    case 'pipx':
      return fromPackage(positionals(args, UV).find((word) => word !== 'run'));
    case 'uv': {
      const words = positionals(args, UV);
      if (words[0] === 'tool') return fromPackage(words.find((word, index) => index > 0 && word !== 'run'));
      const module = valueOf(args, ['-m', '--module']);
      if (module !== undefined) return fromModule(module);
      const behind = args.slice(args.indexOf('run') + 1);
      const found = words[0] === 'run' ? again(positionals(behind, UV, { rest: true })) : undefined;
      return found ?? fromPath(valueOf(args, ['--directory', '--project']));
    }
    case 'node':
    case 'nodejs':
    case 'tsx':
    case 'ts-node':
      return isInline(args) ? undefined : fromPath(positionals(args, NODE).find((word) => word !== 'watch'));
    case 'deno':
      return fromPackage(positionals(args, ['-c', '--config', '--import-map', '--lock']).find((word) => word !== 'run'));
    case 'docker':
    case 'podman':
    case 'nerdctl': {
      const at = args.indexOf('run');
      return at === -1 ? cleaned(name) : fromImage(positionals(args.slice(at + 1), DOCKER)[0]);
    }
    case 'java':
      return fromPath(valueOf(args, ['-jar']));
    case 'go':
      return fromPackage(positionals(args, []).find((word) => word !== 'run'));
    case 'mcp':
    case 'fastmcp':
      return fromPath(
        positionals(args, UV)
          .find((word) => word !== 'run')
          ?.replace(/:\w+$/, ''),
      );
    default:
  }
  if (/^(python[\d.]*|py|pypy\d*)$/.test(name)) {
    const module = valueOf(args, ['-m']);
    return module === undefined ? (isInline(args) ? undefined : fromPath(positionals(args, PYTHON)[0])) : fromModule(module);
  }
  return fromPath(program);
}

/**
 * Returns the words that are neither options nor values of options, and all words after `--`. With `rest`, returns all words from
 * the first such word on.
 */
function positionals(args: readonly string[], valued: readonly string[], { rest = false } = {}): string[] {
  const found: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (word === '--') return [...found, ...args.slice(at + 1)];
    if (!word.startsWith('-') || word === '-') {
      if (rest) return args.slice(at);
      found.push(word);
    } else if (valued.includes(word)) at += 1;
  }
  return found;
}

function valueOf(args: readonly string[], options: readonly string[]): string | undefined {
  for (const [index, word] of args.entries()) {
    if (options.includes(word)) return args[index + 1];
    const [option = '', value] = word.split(/=(.*)/s);
    if (value !== undefined && options.includes(option)) return value;
  }
  return undefined;
}

const isInline = (args: readonly string[]): boolean =>
  args.some((word) => ['-e', '--eval', '-p', '--print', '-c'].includes(word));

/**
 * Finds the name of a server in a package specifier: `@playwright/mcp@latest`, `pkg==1.2`, `pkg[extra]`, `npm:@scope/pkg`,
 * `github:user/repo`, `git+https://host/user/repo.git`.
 */
function fromPackage(spec: string | undefined): string | undefined {
  if (spec === undefined) return undefined;
  const plain = spec
    .replace(/^(npm|jsr|github|gitlab|file|git\+https?|git\+ssh|https?):(\/\/)?/, '')
    .replace(/#.*$/, '')
    .replace(/(?<=[^/])@[^/@]*$/, '')
    .replace(/(\[|[=<>!~]=|[<>]).*$/, '');
  return fromPath(plain);
}

/** Finds the name of a server in an image reference, such as `ghcr.io/github/github-mcp-server:latest`. */
function fromImage(image: string | undefined): string | undefined {
  return fromPath(image?.replace(/@sha256:.*$/, '').replace(/:[^/:]*$/, ''));
}

function fromModule(module: string): string | undefined {
  return fromPath(module.replaceAll('.', '/'));
}

function fromUrl(url: string): string {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: '' };
  if (/^[\d.]+$|^\[/.test(hostname)) return 'server';
  const labels = hostname.split('.');
  const named = labels.length > 1 ? labels.slice(0, -1) : labels;
  return named.toReversed().flatMap((label) => cleaned(label) ?? [])[0] ?? 'server';
}

/** Returns the last name in the path that is not generic (`GENERIC`). Only the last four names of the path are checked. */
function fromPath(path: string | undefined): string | undefined {
  const parts = path?.split(/[/\\]/) ?? [];
  for (const part of parts.toReversed().slice(0, 4)) {
    const name = cleaned(part);
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Matches words that are common in the names of servers' files and packages. */
const GENERIC =
  /^(|mcp|server|servers?|mcp-?servers?|index|main|__main__|__init__|app|cli|run|start|stdio|serve|dist|src|build|bin|lib|out|cmd|api|www|sse|http|latest|node_modules|packages)$/i;

function cleaned(part: string | undefined): string | undefined {
  const name = (part ?? '')
    .replace(/^@/, '')
    .replace(/\.(git|tgz|whl|jar|exe|[cm]?[jt]sx?|py|rb|php|sh|go)$/i, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^(mcp[-_]server[-_]|server[-_]|mcp[-_])/i, '')
    .replace(/([-_]mcp[-_]server|[-_]mcp|[-_]server)$/i, '')
    .replaceAll(/^[-_]+|[-_]+$/g, '')
    .slice(0, 64);
  return GENERIC.test(name) ? undefined : name;
}

const baseOf = (path: string): string => path.split(/[/\\]/).at(-1) ?? path;

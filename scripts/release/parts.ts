/** Makes the decisions of a release: reasons to refuse it, the package.json to publish, and dead links. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/**
 * The content of `publisher.json`. An empty or blank text means that the field is not filled yet. `repository` is the URL of a
 * git repository.
 */
export type Publisher = {
  readonly repository: string;
  readonly homepage: string;
  readonly bugs: string;
  /** The branch from which releases are made. */
  readonly branch: string;
};

const FIELDS = ['repository', 'homepage', 'bugs'] as const;

/** Returns a text for each reason not to publish now. */
export function refusals(state: {
  readonly publisher: Publisher;
  readonly branch: string;
  readonly changed: string;
}): readonly string[] {
  const { publisher, branch, changed } = state;
  const unfilled = FIELDS.filter((field) => publisher[field].trim() === '');
  return [
    ...(unfilled.length === 0 ? [] : [`publisher.json has no ${unfilled.join(', no ')}; fill it in`]),
    ...(branch === publisher.branch ? [] : [`this is branch ${branch}; releases are made from ${publisher.branch}`]),
    ...(changed === '' ? [] : [`files are changed and not committed:\n${changed}`]),
  ];
}

/** Makes the package.json for publishing: with the owner's fields, and without fields that only this repository needs. */
export function manifestOf(manifest: object, publisher: Publisher): object {
  const [repository = '', homepage = '', bugs = ''] = FIELDS.map((field) => publisher[field].trim());
  const { devDependencies: _dev, scripts: _scripts, allowScripts: _allow, ...rest } = manifest as Record<string, unknown>;
  return {
    ...rest,
    ...(repository === '' ? {} : { repository: { type: 'git', url: repository } }),
    ...(homepage === '' ? {} : { homepage }),
    ...(bugs === '' ? {} : { bugs: { url: bugs } }),
  };
}

/** Returns `page: link` for each relative link whose target is missing, in the pages of an unpacked tarball. */
export function deadLinks(folder: string): readonly string[] {
  return globSync(['*.md', 'docs/**/*.md'], { cwd: folder }).flatMap((page) => {
    const text = readFileSync(join(folder, page), 'utf8').replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(
      ([, link, attribute]) => link ?? attribute ?? '',
    );
    return links
      .filter((link) => !/^(?:[a-z]+:|#)/i.test(link))
      .filter((link) => !existsSync(normalize(join(folder, dirname(page), decodeURIComponent(link.split('#')[0] ?? '')))))
      .map((link) => `${page}: ${link}`);
  });
}

type Sizes = {
  readonly packed: number;
  readonly unpacked: number;
  readonly files: {
    readonly total: number;
    readonly folders: readonly (readonly [string, { readonly count: number; readonly bytes: number }])[];
  };
};

/** Returns the sizes of a tarball's files, summed by the first part of their paths. */
export function sizes(tarball: string): Sizes {
  const lines = execFileSync('tar', ['-tvzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const folders = new Map<string, { count: number; bytes: number }>();
  let unpacked = 0;
  for (const line of lines) {
    const [, bytes = '0', path = ''] = /^\S+\s+\S+\s+(\d+)\s+\S+\s+\S+\s+package\/(.*)$/.exec(line) ?? [];
    const name = path.includes('/') ? `${path.split('/')[0]}/` : path;
    const { count, bytes: before } = folders.get(name) ?? { count: 0, bytes: 0 };
    folders.set(name, { count: count + 1, bytes: before + Number(bytes) });
    unpacked += Number(bytes);
  }
  return {
    packed: statSync(tarball).size,
    unpacked,
    files: { total: lines.length, folders: [...folders].sort(([, a], [, b]) => b.bytes - a.bytes) },
  };
}

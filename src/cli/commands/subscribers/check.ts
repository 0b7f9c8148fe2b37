/** `earpiece subscribers check`: lists the problems in the files of subscribers. */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { checkRunning, Folder, templateEngine, type FolderState, type SubscriberProblem } from '../../../bus/index.ts';
import type { Answer, CommandLine } from '../../command-line.ts';
import type { GlobalOptions } from '../../context.ts';
import { EXIT } from '../../exit.ts';
import { plain, print, printJson } from '../../terminal.ts';
import { fileAt, here, problemLine } from './here.ts';

export function check(group: CommandLine, answer: Answer): void {
  group
    .command('check [paths...]')
    .summary('list every problem with its place')
    .description(
      'Lists every problem, with line and column, in these files or folders of subscribers (default: all that apply here), and in their templates and conditions. ' +
        'The exit code is 8 if there is an error; warnings do not count.',
    )
    .action(async (paths: readonly string[], options: GlobalOptions) => {
      await using engine = templateEngine();
      let wrong = false;
      for (const { name, files, problems } of paths.length > 0 ? paths.map(checkable) : ofHere()) {
        const all = [...problems, ...(await checkRunning(files, engine))];
        wrong ||= all.some(({ severity }) => severity === 'error');
        if (options.json) all.forEach((problem) => printJson(problem));
        else if (all.length > 0) print(all.map(problemLine).join('\n'));
        else print(`${plain(name)} is fine${files.length === 1 ? '' : `: ${files.length} subscribers`}`);
      }
      if (wrong) answer(EXIT.problems.code);
    });
}

type Checkable = { readonly name: string; readonly files: FolderState['files']; readonly problems: readonly SubscriberProblem[] };

/** Lists the folders that apply here: the existing folders, and missing folders with a problem. */
function ofHere(): readonly Checkable[] {
  const { project, paths, source } = here();
  const { problems } = source.of(project);
  return (['shipped', 'user', 'project'] as const)
    .map((name) => ({
      name: paths[name],
      files: new Folder({ path: paths[name], name, optional: name !== 'shipped', checkEveryMs: 0 }).check(0).files,
      problems: problems.filter(({ file }) => file === paths[name] || dirname(file) === paths[name]),
    }))
    .filter(({ name, problems: wrong }) => wrong.length > 0 || existsSync(name));
}

function checkable(path: string): Checkable {
  if (isFolder(path)) return { name: path, ...new Folder({ path, name: 'user', optional: false, checkEveryMs: 0 }).check(0) };
  const { subscriber, problems: own, ...rest } = fileAt(path);
  // A duplicate id or a replaced core subscriber is found only by reading all folders that apply here.
  const { project, source } = here();
  const among = source
    .of(project)
    .problems.filter(({ file }) => resolve(file) === resolve(path))
    .map((problem) => ({ ...problem, file: path }));
  const problems = [...new Map([...among, ...own].map((each) => [`${each.line} ${each.message}`, each])).values()];
  return { name: path, files: subscriber === undefined ? [] : [{ ...rest, subscriber, problems }], problems };
}

/** Whether the path is a folder. Returns false for an unreadable path, because a later read reports the error. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

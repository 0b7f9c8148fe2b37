import type { Answer, CommandLine } from '../command-line.ts';
import { check } from './subscribers/check.ts';
import { copy } from './subscribers/copy.ts';
import { list } from './subscribers/list.ts';
import { toggle } from './subscribers/toggle.ts';
import { tryOut } from './subscribers/try-out.ts';

export function subscribers(group: CommandLine, answer: Answer): void {
  group.description('Lists, checks, tests, copies, enables and disables the rules that turn events into notifications.');
  list(group);
  check(group, answer);
  tryOut(group, answer);
  copy(group);
  toggle(group, 'disable');
  toggle(group, 'enable');
}

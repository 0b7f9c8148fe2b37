#!/usr/bin/env node
import { commandOf } from './hook-guard.ts';
import '../node-version.ts';

const args = process.argv.slice(2);
const command = commandOf(args);
const words = args.toSpliced(args.indexOf(command ?? ''), 1);
try {
  process.cwd();
} catch {
  (await import('./gone-folder.ts')).leaveGoneFolder(command);
}
if (command === 'hook' && words.includes('--wait')) {
  await (await import('./hook-wait.ts')).wait(words, process.env);
} else if (command === 'statusline' && !words.includes('-h') && !words.includes('--help')) {
  process.stdout.write((await import('./status-line.ts')).statusLine(words, process.env));
} else if (command !== 'hook' || !(await import('./hook-glance.ts')).hasNothingToSay(words, process.env)) {
  const early = command === 'gateway' ? await import('./early.ts') : undefined;
  early?.startEarly(words);
  const { keepCompiled } = await import('./compiled.ts');
  keepCompiled(process.env);
  const { run } = await import('./program.ts');
  process.exitCode = await run(args);
  // If the gateway has not taken over the server, for example because the command line is invalid, the server ends here.
  await early?.takeEarly()?.end();
}

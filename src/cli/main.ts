#!/usr/bin/env node
import '../node-version.ts';

const [command, ...words] = process.argv.slice(2);
if (command === 'hook' && words.includes('--wait')) {
  const { wait } = await import('./hook-wait.ts');
  process.exitCode = await wait(words, process.env);
} else if (command !== 'hook' || !(await import('./hook-glance.ts')).hasNothingToSay(words, process.env)) {
  const early = command === 'gateway' ? await import('./early.ts') : undefined;
  early?.startEarly(words);
  const { keepCompiled } = await import('./compiled.ts');
  keepCompiled(process.env);
  const { run } = await import('./program.ts');
  process.exitCode = await run(process.argv.slice(2));
  // The command line was refused before the gateway took its server.
  await early?.takeEarly()?.end();
}

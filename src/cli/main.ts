#!/usr/bin/env node
import '../node-version.ts';

const { keepCompiled } = await import('./compiled.ts');
keepCompiled(process.env);
const { run } = await import('./program.ts');
process.exitCode = await run(process.argv.slice(2));

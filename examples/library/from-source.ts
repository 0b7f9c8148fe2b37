// `node --import ./from-source.ts example.ts`: makes "earpiece" import the sources of this repository instead of the built
// package.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    const subpath = /^earpiece(?:\/(.+))?$/u.exec(specifier);
    if (subpath === null) return next(specifier, context);
    const file = subpath[1] === undefined ? 'index.ts' : `entries/${subpath[1]}.ts`;
    return next(new URL(`../../src/${file}`, import.meta.url).href, context);
  },
});

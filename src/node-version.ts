/**
 * Checks the version of Node. Every entry point of the package imports this file first. An older Node then prints one clear line
 * instead of a syntax or module error. So this file must run on older versions of Node.
 */
// In a browser, there is no version of Node to check.
const node = typeof process === 'undefined' || !process.versions ? undefined : process.versions.node;
if (node !== undefined && !(Number(node.split('.')[0]) >= 24)) {
  process.stderr.write(
    'earpiece needs Node >= 24, but this is ' +
      process.version +
      ' (' +
      process.execPath +
      '). Install a newer Node, or run earpiece with a newer Node: npx node@24 ' +
      (process.argv[1] || '<file>') +
      '\n',
  );
  process.exit(1);
}

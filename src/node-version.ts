/**
 * The first import of every entry point: an older Node gets one clear line instead of a syntax or module error. Nothing
 * here may need a newer Node itself.
 */
const major = Number(process.versions.node.split('.')[0]);
if (!(major >= 24)) {
  process.stderr.write(
    'earpiece needs Node >= 24, this is ' +
      process.version +
      ' (' +
      process.execPath +
      '). Install a newer Node, or run it with: npx node@24\n',
  );
  process.exit(1);
}

import { readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { goFileError } from '../../../api/go-file-error.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { BundleFiles } from '../../../core/sdk.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { exactArgs } from '../cobra/positional-args.ts';
import { logrusLine } from '../logrus.ts';
import { tlsOptions } from '../registry-flags.ts';

export const bundleUnpackCommand: CobraCommand = {
  use: 'unpack BUNDLE_NAME[:TAG|@DIGEST]',
  long: 'Unpacks the content of an operator bundle into a directory',
  args: exactArgs(1),
  flags: [
    { name: 'debug', short: 'd', kind: 'bool', usage: 'enable debug log output' },
    {
      name: 'skip-tls',
      short: 's',
      kind: 'bool',
      usage: 'use plain HTTP',
      deprecated: 'use --use-http and --skip-tls-verify instead',
    },
    { name: 'skip-tls-verify', kind: 'bool', usage: 'disable TLS verification' },
    { name: 'use-http', kind: 'bool', usage: 'use plain HTTP' },
    { name: 'skip-validation', short: 'v', kind: 'bool', usage: 'disable bundle validation' },
    {
      name: 'root-ca',
      short: 'c',
      kind: 'string',
      usage: 'file path of a root CA to use when communicating with image registries',
    },
    {
      name: 'out',
      short: 'o',
      kind: 'string',
      default: './',
      usage: 'directory in which to unpack operator bundle content',
    },
  ],
  run: unpack,
};

async function unpack({ args, flags, signal }: CobraCall): Promise<void> {
  const out = flags.string('out');
  if (statSync(out, { throwIfNoEntry: false }) === undefined) {
    await mkdir(out, { recursive: true });
  } else if (!statSync(out).isDirectory()) {
    throw new Error(`out ${out} is not a directory`);
  }
  const tls = tlsOptions(flags);
  const rootCa = flags.string('root-ca');
  const trusted = rootCa === '' ? {} : { caCertificates: certificatesIn(rootCa) };
  const { pullBundle } = await import('./pull-bundle.ts');
  const files = await pullBundle(args[0] ?? '', { ...tls, ...trusted, signal });
  if (flags.bool('skip-validation')) log('info', 'skipping bundle validation');
  else await check(files, flags.bool('debug'));
  await write(files, out);
}

function certificatesIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(goFileError(error, file) ?? errorMessage(error), { cause: error });
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Error(`failed to fetch root CA from ${file}`);
}

async function check(files: BundleFiles, isDebug: boolean): Promise<void> {
  const { opmVerdict } = await import('../../../catalog/bundle-checks/index.ts');
  const { format, content } = opmVerdict(files, {
    log: (level, message) => {
      if (level !== 'debug' || isDebug) log(level, message);
    },
  });
  for (const [what, errors] of Object.entries({ format, content })) {
    if (errors.length === 0) continue;
    const list = errors.join(',');
    throw new Error(`bundle ${what} validation failed: Bundle validation errors: ${list}`);
  }
}

async function write({ files, directories }: BundleFiles, out: string): Promise<void> {
  for (const directory of directories) await mkdir(join(out, directory), { recursive: true });
  for (const [path, content] of files) await writeFile(join(out, path), content);
}

function log(level: 'debug' | 'info' | 'warning', message: string): void {
  process.stderr.write(`${logrusLine(level, message, { cmd: 'unpack' })}\n`);
}

import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goFileError } from '../../../api/go-file-error.ts';
import type { ContentCache } from '../../../catalog/serve/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import { favourBuilding } from '../../favour-memory.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { exactArgs } from '../cobra/positional-args.ts';
import { logrusFatal } from '../failures.ts';
import { logrusLine } from '../logrus.ts';

export const serveCommand: CobraCommand = {
  use: 'serve <source_path>',
  long: `This command serves declarative configs via a GRPC server.

NOTE: The declarative config directory is loaded by the serve command at
startup. Changes made to the declarative config after the this command starts
will not be reflected in the served content.
`,
  args: exactArgs(1),
  flags: [
    { name: 'debug', kind: 'bool', usage: 'enable debug logging' },
    {
      name: 'termination-log',
      short: 't',
      kind: 'string',
      default: '/dev/termination-log',
      usage: 'path to a container termination log file',
    },
    {
      name: 'port',
      short: 'p',
      kind: 'string',
      default: '50051',
      usage: 'port number to serve on',
    },
    {
      name: 'pprof-addr',
      kind: 'string',
      default: 'localhost:6060',
      usage: 'address of startup profiling endpoint (addr:port format)',
    },
    {
      name: 'pprof-capture-profiles',
      kind: 'bool',
      usage: 'capture pprof CPU profiles',
    },
    {
      name: 'cache-dir',
      kind: 'string',
      usage: 'if set, sync and persist server cache directory',
    },
    {
      name: 'cache-only',
      kind: 'bool',
      usage: 'sync the serve cache and exit without serving',
    },
    {
      name: 'cache-enforce-integrity',
      kind: 'bool',
      usage:
        'exit with error if cache is not present or has been invalidated. (default: true when --cache-dir is set and --cache-only is false, false otherwise), ',
    },
  ],
  run: async (call) => {
    try {
      await serve(call);
    } catch (error) {
      const fatal = logrusFatal(errorMessage(error));
      terminate(call.flags.string('termination-log'), `${fatal.message}\n`);
      throw fatal;
    }
  },
};

async function serve(call: CobraCall): Promise<void> {
  const { flags } = call;
  const given = flags.string('cache-dir');
  const enforced = flags.changed('cache-enforce-integrity')
    ? flags.bool('cache-enforce-integrity')
    : given !== '' && !flags.bool('cache-only');
  const problem = terminate(flags.string('termination-log'), '');
  if (problem !== undefined) {
    log('warning', 'unable to set termination log path', { error: problem });
  }
  if (given === '' && enforced) {
    throw new Error('--cache-dir must be specified with --cache-enforce-integrity');
  }
  const cache = given === '' ? await mkdtemp(join(tmpdir(), 'opm-serve-cache-')) : given;
  try {
    await serveFrom(cache, enforced, call);
  } finally {
    if (given === '') await rm(cache, { recursive: true, force: true });
  }
}

async function serveFrom(cacheDir: string, enforced: boolean, call: CobraCall): Promise<void> {
  const { args, flags, signal } = call;
  const { ContentCache, RegistryServer, ServedCatalog } = await import(
    '../../../catalog/serve/index.ts'
  );
  const [configs = ''] = args;
  const fields = { cache: cacheDir, configs };
  const cache = new ContentCache(cacheDir);
  const found = (await cache.isPresent())
    ? 'found existing cache contents'
    : 'cache directory is empty, using preferred backend';
  log('info', found, { ...fields, backend: cache.format });
  const content = enforced
    ? await intactContent(cache, call, fields)
    : await builtContent(cache, call, fields);
  const catalog = new ServedCatalog('', content);
  try {
    if (flags.bool('cache-only')) return;
    const onError = (error: unknown) => log('error', errorMessage(error), fields);
    const server = new RegistryServer({
      catalog,
      address: addressOf(flags.string('port')),
      onError,
    });
    await server.listen();
    const port = flags.string('port');
    log('info', 'serving registry', { ...fields, port });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    log('info', 'shutting down server', { ...fields, port });
    await server.close();
  } finally {
    await catalog.close();
  }
}

type Fields = Readonly<Record<string, string>>;

async function intactContent(cache: ContentCache, { args, signal }: CobraCall, fields: Fields) {
  const { StaleCacheError } = await import('../../../catalog/serve/index.ts');
  const [configs = ''] = args;
  try {
    return await cache.openIntact(configs, signal);
  } catch (error) {
    if (error instanceof StaleCacheError) {
      const { existing: existingDigest, computed: computedDigest } = error;
      log('warning', 'cache requires rebuild', { ...fields, existingDigest, computedDigest });
    }
    throw new Error(`integrity check failed: ${errorMessage(error)}`, { cause: error });
  }
}

async function builtContent(cache: ContentCache, { args, signal }: CobraCall, fields: Fields) {
  const { checkCustomSchemas } = await import('../../../catalog/serve/index.ts');
  const [configs = ''] = args;
  const onBuild = () => {
    favourBuilding();
    log('info', 'building cache', fields);
  };
  try {
    checkDirectory(configs, onBuild);
    return await cache.open(configs, { signal, onBuild, onStored: checkCustomSchemas });
  } catch (error) {
    const prefix = 'failed to load or rebuild cache: failed to rebuild cache';
    throw new Error(`${prefix}: ${servedText(error)}`, { cause: error });
  }
}

function checkDirectory(directory: string, onBuild: () => void): void {
  let problem: string | undefined;
  try {
    if (!statSync(directory).isDirectory()) problem = 'stat .: not a directory';
  } catch (error) {
    problem = goFileError(error, '.') ?? errorMessage(error);
  }
  if (problem === undefined) return;
  onBuild();
  throw new Error(problem);
}

/** opm reports a blob without a schema as an invalid custom schema. */
function servedText(error: unknown): string {
  const message = errorMessage(error);
  return message.endsWith('is missing root schema field')
    ? 'invalid custom schema meta: invalid schema: must not be empty'
    : message;
}

function addressOf(port: string): { readonly port: number } {
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return { port: Number(port) };
  const problem = /^\d+$/.test(port)
    ? `address ${port}: invalid port`
    : `lookup tcp/${port}: unknown port`;
  throw new Error(`failed to listen: listen tcp: ${problem}`);
}

/**
 * Appends to the termination log, in which Kubernetes looks for the reason why a container ended.
 * @returns the reason if it cannot write
 */
function terminate(file: string, text: string): string | undefined {
  try {
    const handle = openSync(file, 'a');
    writeSync(handle, text);
    closeSync(handle);
    return undefined;
  } catch (error) {
    return goFileError(error, file) ?? errorMessage(error);
  }
}

function log(level: 'info' | 'warning' | 'error', message: string, fields: Fields): void {
  process.stderr.write(`${logrusLine(level, message, fields)}\n`);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { goFileError } from '../../../api/go-file-error.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { noArgs } from '../cobra/positional-args.ts';
import { logrusLine } from '../logrus.ts';
import { bundleFlags, generateMetadata } from './bundle-generate.ts';

export const bundleBuildCommand: CobraCommand = {
  use: 'build',
  long: `The "opm alpha bundle build" command will generate operator
bundle metadata if needed and build bundle image with operator manifest
and metadata for a specific version.

For example: The command will generate annotations.yaml metadata plus
Dockerfile for bundle image and then build a container image from
provided operator bundle manifests generated metadata
e.g. "quay.io/example/operator:v0.0.1".

After the build process is completed, a container image would be built
locally in docker and available to push to a container registry.

$ opm alpha bundle build --directory /test/0.1.0/ --tag quay.io/example/operator:v0.1.0 \\
	--package test-operator --channels stable,beta --default stable --overwrite

Note:
* Bundle image is not runnable.
* All manifests yaml must be in the same directory. `,
  args: noArgs,
  flags: [
    {
      name: 'directory',
      short: 'd',
      kind: 'string',
      usage: 'The directory where bundle manifests and metadata for a specific version are located',
      required: true,
    },
    {
      name: 'tag',
      short: 't',
      kind: 'string',
      usage: 'The image tag applied to the bundle image',
      required: true,
    },
    {
      name: 'image-builder',
      short: 'b',
      kind: 'string',
      default: 'docker',
      usage: 'Tool used to manage container images. One of: [docker, podman, buildah]',
    },
    {
      name: 'overwrite',
      short: 'o',
      kind: 'bool',
      usage:
        'To overwrite annotations.yaml locally if existed. By default, overwrite is set to `false`.',
    },
    ...bundleFlags,
  ],
  run: build,
};

const verbs: Readonly<Record<string, readonly string[]>> = {
  docker: ['build'],
  podman: ['build'],
  buildah: ['bud', '--format=docker'],
};

/** Runs the container tool, because only the tool can write to its own image store. */
async function build(call: CobraCall): Promise<void> {
  const { flags } = call;
  checkDirectory(flags.string('directory'));
  await generateMetadata(call, flags.bool('overwrite'));
  process.stderr.write(`${logrusLine('info', 'Building bundle image')}\n`);
  const tool = flags.string('image-builder');
  const verb = verbs[tool];
  if (verb === undefined) throw new Error(`${tool} is not supported image builder`);
  await run(tool, [...verb, '-f', 'bundle.Dockerfile', '-t', flags.string('tag'), '.']);
}

function checkDirectory(directory: string): void {
  try {
    statSync(directory);
  } catch (error) {
    throw new Error(goFileError(error, directory) ?? errorMessage(error), { cause: error });
  }
}

async function run(tool: string, args: readonly string[]): Promise<void> {
  const child = spawn(tool, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (chunk: Buffer) => process.stdout.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => process.stderr.write(chunk));
  const called = `Failed to exec []string{${[tool, ...args].map(goQuote).join(', ')}}`;
  let status: unknown;
  try {
    [status] = await once(child, 'close');
  } catch (error) {
    const reason = `exec: ${goQuote(tool)}: executable file not found in $PATH`;
    throw new Error(`${called}: ${reason}; "rukpakctl bundle build" needs no container tool`, {
      cause: error,
    });
  }
  if (status !== 0) throw new Error(`${called}: exit status ${String(status)}`);
}

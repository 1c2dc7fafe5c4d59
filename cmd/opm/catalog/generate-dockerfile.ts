import { lstatSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, normalize } from 'node:path';
import { goFileError } from '../../../api/go-file-error.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { exactArgs } from '../cobra/positional-args.ts';
import { logrusFatal } from '../failures.ts';

const image = 'quay.io/operator-framework/opm:latest';

export const generateDockerfileCommand: CobraCommand = {
  use: 'dockerfile <fbcRootDir>',
  long: `Generate a Dockerfile for a file-based catalog.

This command creates a Dockerfile in the same directory as the <fbcRootDir>
(named <fbcRootDir>.Dockerfile) that can be used to build the index. If a
Dockerfile with the same name already exists, this command will fail.

When specifying extra labels, note that if duplicate keys exist, only the last
value of each duplicate key will be added to the generated Dockerfile.

A separate builder and base image can be specified. The builder image may not be "scratch".
`,
  args: exactArgs(1),
  flags: [
    {
      name: 'binary-image',
      kind: 'string',
      default: image,
      usage: 'Image in which to build catalog.',
      deprecated: 'use --base-image instead',
    },
    {
      name: 'base-image',
      short: 'i',
      kind: 'string',
      default: image,
      usage: 'Image base to use to build catalog.',
    },
    {
      name: 'builder-image',
      short: 'b',
      kind: 'string',
      default: image,
      usage: 'Image to use as a build stage.',
    },
    {
      name: 'extra-labels',
      short: 'l',
      kind: 'strings',
      usage:
        "Extra labels to include in the generated Dockerfile. Labels should be of the form 'key=value'.",
    },
  ],
  exclusive: [['binary-image', 'base-image']],
  run: generate,
};

async function generate({ args, flags }: CobraCall): Promise<void> {
  const folder = cleanPath(args[0] ?? '');
  if (flags.string('builder-image') === 'scratch') {
    throw new Error('invalid builder image: "scratch"');
  }
  const labels = new Map(flags.strings('extra-labels').map(keyAndValue));
  const file = join(dirname(folder), `${basename(folder)}.Dockerfile`);
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    throw logrusFatal(`path ${goQuote(file)}: file already exists`);
  }
  checkFolder(folder);
  const { catalogDockerfile } = await import('../../../catalog/images/index.ts');
  const text = catalogDockerfile({ ...images(flags), folder: basename(folder), labels });
  await writeFile(file, text);
}

/**
 * The deprecated flag --binary-image also sets the builder image, unless --builder-image is given.
 */
function images(flags: CobraCall['flags']): {
  readonly baseImage: string;
  readonly builderImage: string;
} {
  const isFormer = flags.changed('binary-image');
  const baseImage = flags.string(isFormer ? 'binary-image' : 'base-image');
  const isBoth = isFormer && !flags.changed('builder-image');
  return { baseImage, builderImage: isBoth ? baseImage : flags.string('builder-image') };
}

function keyAndValue(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 0) throw new Error(`invalid label ${goQuote(text)}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function checkFolder(folder: string): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(folder).isDirectory();
  } catch (error) {
    throw new Error(goFileError(error, folder) ?? errorMessage(error), { cause: error });
  }
  if (!isFolder) throw new Error(`provided root path ${goQuote(folder)} is not a directory`);
}

/** Like Go's filepath.Clean. */
function cleanPath(path: string): string {
  const clean = normalize(path || '.');
  return clean.length > 1 ? clean.replace(/\/$/, '') : clean;
}

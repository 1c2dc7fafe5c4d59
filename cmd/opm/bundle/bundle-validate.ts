import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { noArgs } from '../cobra/positional-args.ts';
import { logrusLine } from '../logrus.ts';

export const bundleValidateCommand: CobraCommand = {
  use: 'validate',
  long: `The "opm alpha bundle validate" command will validate a bundle image
from a remote source to determine if its format and content information are accurate. 
Required validators. These validators will run by default on every invocation of the command. 
 * CSV validator - validates the CSV name and replaces fields.
 * CRD validator - validates the CRDs OpenAPI V3 schema. 
 * Bundle validator - validates the bundle format and annotations.yaml file as well as the optional dependencies.yaml file. 

Optional validators. These validators are disabled by default and can be enabled via the --optional-validators flag. 
 * Operatorhub validator - performs operatorhub.io validation. To validate a bundle using custom categories use with the OPERATOR_BUNDLE_CATEGORIES environmental variable to point to a json-encoded categories file.
 * Bundle objects validator - performs validation on resources like PodDisruptionBudgets and PriorityClasses. 

See https://olm.operatorframework.io/docs/tasks/validate-package/#validation for more info.

Note that this subcommand is deprecated and will be removed in a future release. Migrate to operator-sdk bundle validate.`,
  example:
    '$ opm alpha bundle validate --tag quay.io/test/test-operator:latest --image-builder docker',
  deprecated:
    'This subcommand is deprecated and will be removed in a future release. Migrate to operator-sdk bundle validate',
  args: noArgs,
  flags: [
    {
      name: 'tag',
      short: 't',
      kind: 'string',
      usage:
        'The path of a registry to pull from, image name and its tag that present the bundle image (e.g. quay.io/test/test-operator:latest)',
      required: true,
    },
    {
      name: 'image-builder',
      short: 'b',
      kind: 'string',
      default: 'docker',
      usage: 'Tool used to pull and unpack bundle images. One of: [none, docker, podman]',
    },
    {
      name: 'optional-validators',
      short: 'o',
      kind: 'string',
      usage:
        'Specifies optional validations to be run. One or more of: [operatorhub, bundle-objects]',
    },
  ],
  run: validate,
};

/** Pulls the image itself: the container tool in the flags is not used. */
async function validate({ flags, signal }: CobraCall): Promise<void> {
  const fields = { 'container-tool': flags.string('image-builder') };
  function log(level: 'debug' | 'info' | 'warning', message: string): void {
    process.stderr.write(`${logrusLine(level, message, fields)}\n`);
  }
  const [{ opmVerdict }, { pullBundle }] = await Promise.all([
    import('../../../catalog/bundle-checks/index.ts'),
    import('./pull-bundle.ts'),
  ]);
  log('debug', 'Pulling and unpacking container image');
  const files = await pullBundle(flags.string('tag'), { signal });
  log('info', 'Unpacked image layers, validating bundle image format & contents');
  const optional = flags
    .string('optional-validators')
    .split(',')
    .map((name) => name.trim());
  const { format, content } = opmVerdict(files, { optional, log });
  const errors = [...format, ...content];
  if (errors.length > 0) throw new Error(`Bundle validation errors: ${errors.join(',')}`);
  log('info', 'All validation tests have been completed successfully');
}

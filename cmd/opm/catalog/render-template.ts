import { goQuote } from '../../../api/go-quote.ts';
import { type CatalogConfig, writeJson, writeYaml } from '../../../catalog/blobs/index.ts';
import { renderBundleImage } from '../../../catalog/render/index.ts';
import { renderTemplate, templateTypes } from '../../../catalog/templates/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/write-output.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { rangeArgs } from '../cobra/positional-args.ts';
import { systemAccess } from '../system-access.ts';
import { warnOfRange } from '../warn-of-range.ts';
import { contentOf } from './input.ts';
import { migrateLevelFlag, migrationsOf } from './migrate-level.ts';

export const renderTemplateCommand: CobraCommand = {
  use: 'render-template [TYPE] [FILE]',
  long: `Render a catalog template with optional type specification.

If TYPE is specified, it must be one of: 
${templateTypes.map((type) => ` - ${type}\n`).join('')}
If TYPE is not specified, the template type will be auto-detected from the schema field in the input file.

When FILE is '-' or not provided, the template is read from standard input.
FILE must not match a supported TYPE name when TYPE is not provided, to avoid ambiguity.

Examples:
  opm alpha render-template basic template.yaml
  opm alpha render-template semver template.yaml  
  opm alpha render-template template.yaml  # auto-detect type
  opm alpha render-template < template.yaml  # auto-detect from stdin`,
  args: rangeArgs(0, 2),
  flags: [
    {
      name: 'output',
      short: 'o',
      kind: 'string',
      default: 'json',
      usage: 'Output format (json|yaml|mermaid)',
    },
    migrateLevelFlag,
  ],
  run: render,
};

async function render({ args, flags, signal }: CobraCall): Promise<void> {
  const { type, path } = templateOf(args);
  const content = await contentOf(path).catch((error: unknown) => {
    throw new Error(`unable to open ${goQuote(path)}: ${errorMessage(error)}`, { cause: error });
  });
  const output = flags.string('output');
  if (output !== 'json' && output !== 'yaml' && output !== 'mermaid') {
    throw new Error(`invalid --output value ${goQuote(output)}, expected (json|yaml|mermaid)`);
  }
  const migrations = migrationsOf(flags.string('migrate-level'));
  async function renderBundle(image: string): ReturnType<typeof renderBundleImage> {
    const registry = systemAccess(flags, [image]);
    return await renderBundleImage(image, { registry, signal, migrations });
  }
  const config = await renderTemplate(content, renderBundle, type).catch((error: unknown) => {
    throw new Error(`${stepOf(error)}: ${errorMessage(error)}`, { cause: error });
  });
  await writeOutput(await textOf(config, output), process.stdout);
}

async function textOf(
  config: CatalogConfig,
  output: 'json' | 'yaml' | 'mermaid',
): Promise<Iterable<string>> {
  if (output !== 'mermaid') return (output === 'yaml' ? writeYaml : writeJson)(config);
  const { drawMermaid, upgradeGraph } = await import('../../../catalog/graph/index.ts');
  try {
    const graph = await upgradeGraph([config]);
    return [...drawMermaid(graph, { drawV0Semantics: true, warn: warnOfRange })];
  } catch (error) {
    throw new Error(`writing output: ${errorMessage(error)}`, { cause: error });
  }
}

interface NamedTemplate {
  readonly type?: string;
  readonly path: string;
}

function templateOf([first, second]: readonly string[]): NamedTemplate {
  if (first === undefined) return { path: '-' };
  const isType = templateTypes.includes(first);
  if (second === undefined) return isType ? { type: first, path: '-' } : { path: first };
  if (isType) return { type: first, path: second };
  throw new Error(
    `invalid template type ${goQuote(first)}, must be one of: [${templateTypes.join(' ')}]`,
  );
}

function stepOf(error: unknown): string {
  const isFinding =
    /^(?:decoding template input|unmarshalling template schema|template input|unknown template schema)/;
  return isFinding.test(errorMessage(error))
    ? 'auto-detecting template type'
    : 'rendering template';
}

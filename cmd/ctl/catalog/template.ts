import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { Argument, Command, Option } from 'commander';
import type { CatalogFile, CatalogTemplateType } from '../../../catalog/templates/index.ts';
import { stopSignal } from '../../../core/platform/stop-signal.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { writeOutput } from '../output/output.ts';
import { visibleText } from '../terminal/text.ts';
import { withPlace } from './opened-catalog.ts';

interface TemplateFlags extends RegistryFlags {
  readonly output: 'json' | 'yaml';
  readonly migrateLevel: string;
  readonly of?: CatalogTemplateType;
}

/** `rukpakctl catalog template`: renders a template to a catalog, and converts a catalog back. */
export function templateCommand(): Command {
  const command = new Command('template')
    .addArgument(new Argument('<file>', 'Template, or with --of a file of a catalog; - is stdin'))
    .addOption(
      new Option('-o, --output <format>', 'Format').choices(['json', 'yaml']).default('yaml'),
    )
    .option(
      '--migrate-level <level>',
      'Format migrations to apply: none, all, or all up to bundle-object-to-csv-metadata (olm.bundle.object becomes olm.csv.metadata)',
      'none',
    )
    .addOption(
      new Option('--of <type>', 'Type of the template to make of a catalog').choices([
        'basic',
        'substitutes',
      ]),
    );
  return addRegistryFlags(command).action(withPlace(template));
}

async function template(file: string, flags: TemplateFlags): Promise<void> {
  const isInput = file === '-';
  const content = isInput ? await buffer(process.stdin) : await readFile(file);
  const name = isInput ? 'standard input' : file;
  await writeOutput(await textOf({ name, content }, flags), process.stdout);
}

async function textOf(read: CatalogFile, flags: TemplateFlags): Promise<Iterable<string>> {
  const templates = await import('../../../catalog/templates/index.ts');
  const { of, output, migrateLevel } = flags;
  if (of !== undefined) return [templates.templateOfCatalog(read, of, output)];
  const [{ writeJson, writeYaml }, rendering] = await Promise.all([
    import('../../../catalog/blobs/index.ts'),
    import('../../../catalog/render/index.ts'),
  ]);
  const { firstDocument, migrationsUpTo, renderBundleImage } = rendering;
  const signal = stopSignal();
  const migrations = migrationsUpTo(migrateLevel);
  const registry = async () =>
    await (await import('../../registry-access.ts')).registryAccess(flags);
  const config = await templates.renderTemplate(read.content, async (image) => {
    return await renderBundleImage(image, { registry, signal, migrations });
  });
  if (firstDocument(read.content).more) {
    const left = `found more than one document inside ${read.name}, using only the first one`;
    process.stderr.write(`warning: ${visibleText(left)}\n`);
  }
  return (output === 'yaml' ? writeYaml : writeJson)(config);
}

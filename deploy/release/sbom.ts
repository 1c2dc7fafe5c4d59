import { createHash } from 'node:crypto';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { goModule } from '../helm-engine/go-module.ts';
import { architectures, type Pins } from './image/pins.ts';
import { projectRoot } from './product.ts';
import { run } from './run.ts';

const componentSchema = z.looseObject({ 'bom-ref': z.string(), name: z.string() });
const bomSchema = z.looseObject({
  metadata: z.looseObject({ component: componentSchema }),
  components: z.array(componentSchema),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const goModuleSchema = z.object({ Path: z.string(), Version: z.string() });

export interface SbomOptions {
  readonly pins: Pins;
  /** Reference of the base image, if it is not this project's own. */
  readonly base?: string | undefined;
  /** RFC 3339; the same for equal sources. */
  readonly created: string;
  /** An empty folder that the caller removes. */
  readonly work: string;
  readonly signal: AbortSignal;
}

type Component = z.infer<typeof componentSchema>;

/**
 * A CycloneDX bill of materials of the image and the npm package: npm packages of
 * package-lock.json, Go modules of Helm's engine, Node, and the base's Debian packages.
 */
export async function sbom(options: SbomOptions): Promise<string> {
  const { work, signal, created } = options;
  const folder = join(work, 'sbom');
  await mkdir(folder);
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await copyFile(join(projectRoot, file), join(folder, file));
  }
  const args = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'];
  const bom = bomSchema.parse(JSON.parse(await run('npm', args, { cwd: folder, signal })));
  const more = [...(await goModules(signal)), ...nodePackages(options.pins), ...baseOf(options)];
  const { component } = bom.metadata;
  const dependencies = bom.dependencies.map((each) =>
    each.ref === component['bom-ref']
      ? { ...each, dependsOn: [...each.dependsOn, ...more.map((one) => one['bom-ref'])] }
      : each,
  );
  const content = {
    ...bom,
    serialNumber: '',
    // npm uses the folder's name.
    metadata: {
      ...bom.metadata,
      timestamp: created,
      component: { ...component, name: 'rukpak-ts' },
    },
    components: [...bom.components, ...more],
    dependencies,
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(content))}`;
  return `${JSON.stringify({ ...content, serialNumber }, undefined, 2)}\n`;
}

/** Modules of the packages that are compiled into the engine. */
async function goModules(signal: AbortSignal): Promise<readonly Component[]> {
  const args = [
    'list',
    '-deps',
    '-f',
    '{{with .Module}}{{if .Version}}{"Path":"{{.Path}}","Version":"{{.Version}}"}{{end}}{{end}}',
    '.',
  ];
  const env = {
    ...process.env,
    GOOS: 'wasip1',
    GOARCH: 'wasm',
    CGO_ENABLED: '0',
    GOWORK: join(goModule, 'engine.work'),
  };
  const lines = (await run('go', args, { cwd: goModule, env, signal })).split('\n');
  const modules = [...new Set(lines)].filter((line) => line !== '').sort();
  return modules.map((line) => {
    const { Path: name, Version: version } = goModuleSchema.parse(JSON.parse(line));
    return library(`pkg:golang/${name}@${version}`, name, version);
  });
}

function nodePackages({ node }: Pins): readonly Component[] {
  return architectures.map((architecture) => {
    const { name, integrity } = node.packages[architecture];
    const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
    return {
      ...library(`pkg:npm/${name}@${node.version}`, name, node.version),
      hashes: [{ alg: 'SHA-512', content }],
    };
  });
}

function baseOf({ pins, base }: SbomOptions): readonly Component[] {
  if (base !== undefined) {
    return [{ type: 'container', 'bom-ref': base, name: base }];
  }
  return architectures
    .flatMap((architecture) =>
      pins.debian[architecture].map(({ name, version, path, sha256 }) => {
        const [, of = ''] = /_([^_]+)\.deb$/.exec(path) ?? [];
        const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${of}&distro=debian-12`;
        const hashes = [{ alg: 'SHA-256', content: sha256 }];
        return { ...library(purl, name, version), hashes };
      }),
    )
    .filter(
      ({ 'bom-ref': ref }, index, all) =>
        all.findIndex((each) => each['bom-ref'] === ref) === index,
    );
}

function library(purl: string, name: string, version: string): Component {
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}

/** Equal for equal content (RFC 9562, version 8). */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

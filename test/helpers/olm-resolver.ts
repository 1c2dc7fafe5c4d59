import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { goBuild, userCache, withLock } from '../../deploy/go-build/index.ts';
import type { NamespaceRequest } from '../../resolver/olm0/index.ts';
import { versionText } from '../../resolver/versions/index.ts';

const goModule = join(import.meta.dirname, '../tools/olm-resolver');
const olm = 'github.com/operator-framework/operator-lifecycle-manager';

interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/**
 * OLM walks Go's maps, whose order is another one each time, and its answer depends on it. The program is
 * built with these places in a fixed order, which is one of the possible ones; all else is OLM's.
 */
const fixedOrders: readonly Change[] = [
  {
    file: 'resolver.go',
    from: '\t\tinput = append(input, i)\n\t}\n',
    to: '\t\tinput = append(input, i)\n\t}\n\tslices.SortFunc(input, func(a, b solver.Variable) int {\n\t\treturn strings.Compare(string(a.Identifier()), string(b.Identifier()))\n\t})\n',
  },
  {
    file: 'resolver.go',
    from: '\t\tfor _, i := range variable {\n',
    to: `\t\tfirst := bundleID(o.Name, o.Channel(), o.SourceInfo.Catalog)
\t\tsorted := make([]*BundleVariable, 0)
\t\tfor _, i := range variable {
\t\t\tsorted = append(sorted, i)
\t\t}
\t\tslices.SortFunc(sorted, func(a, b *BundleVariable) int {
\t\t\tif a.Identifier() == first {
\t\t\t\treturn -1
\t\t\t}
\t\t\tif b.Identifier() == first {
\t\t\t\treturn 1
\t\t\t}
\t\t\treturn strings.Compare(string(a.Identifier()), string(b.Identifier()))
\t\t})
\t\tfor _, i := range sorted {
`,
  },
  {
    file: 'resolver.go',
    from: '\tfor catalog := range partitionedBundles {\n',
    to: '\tfor _, catalog := range catalogOrder {\n',
  },
  {
    file: 'resolver.go',
    from: '\t\tfor channel := range partitionedBundles[catalog] {\n',
    to: '\t\tfor _, channel := range channelOrder[catalog] {\n',
  },
  {
    file: 'solver/lit_mapping.go',
    from: '\tfor m := range d.constraints {\n',
    to: '\tfor _, m := range slices.Sorted(maps.Keys(d.constraints)) {\n',
  },
  { file: 'solver/lit_mapping.go', from: '\t"fmt"\n', to: '\t"fmt"\n\t"maps"\n' },
];

/** Builds the program, which takes ten minutes, once for a user. */
async function olmResolverBinary(): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(fixedOrders));
  for (const name of ['go.mod', 'go.sum', 'main.go'])
    hash.update(await readFile(join(goModule, name)));
  const folder = join(userCache(process.env), 'olm-resolver', hash.digest('hex').slice(0, 16));
  const target = join(folder, 'olm-resolver');
  if (await exists(target)) return target;
  await mkdir(folder, { recursive: true });
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
  const { signal } = new AbortController();
  const title = "OLM v0's resolver";
  await withLock(
    `${target}.lock`,
    { purpose: `building ${title}`, onProgress, signal },
    async () => {
      if (await exists(target)) return;
      const copy = await mkdtemp(join(tmpdir(), 'olm-resolver-'));
      try {
        const flags = [`-modfile=${await writeCopy(copy)}`];
        const what = { title, package: '.', cwd: goModule, target, flags };
        await goBuild({ ...what, env: process.env, onProgress, signal });
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    },
  );
  return target;
}

/** Copies OLM's module with the changes; returns a go.mod that has it replaced by the copy. */
async function writeCopy(folder: string): Promise<string> {
  const run = promisify(execFile);
  await run('go', ['mod', 'download', olm], { cwd: goModule });
  const listed = await run('go', ['list', '-m', '-f', '{{.Dir}}', olm], { cwd: goModule });
  const copy = join(folder, 'olm');
  await mkdir(copy);
  // The module's own files cannot be written, and neither can copies with their permissions.
  await run('cp', ['-r', '--no-preserve=mode', `${listed.stdout.trim()}/.`, copy]);
  for (const { file, from, to } of fixedOrders) {
    const path = join(copy, 'pkg/controller/registry/resolver', file);
    const text = await readFile(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${path} does not have once: ${from}`);
    await writeFile(
      path,
      text.replace(from, () => to),
    );
  }
  const modfile = join(folder, 'go.mod');
  const pins = await readFile(join(goModule, 'go.mod'), 'utf8');
  await writeFile(modfile, `${pins}\nreplace ${olm} => ${copy}\n`);
  await copyFile(join(goModule, 'go.sum'), join(folder, 'go.sum'));
  return modfile;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

export interface OlmAnswer {
  readonly lookups: readonly OlmLookup[] | null;
  readonly generated: readonly { readonly name: string; readonly startingCSV: string }[] | null;
  readonly updated: Readonly<Record<string, string>> | null;
  /** Null unless the constraints are unsatisfiable. */
  readonly conflicts: readonly string[] | null;
  /** Empty for success. */
  readonly error: string;
}

export interface OlmLookup {
  readonly bundle: string;
  readonly replaces: string;
  readonly properties: string;
}

/** OLM v0.46.0's resolver, on the content of a namespace. */
export class OlmResolver {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(path: string) {
    // With Go's default of 100, such a small heap is collected all the time.
    const env = { ...process.env, GOGC: '800' };
    this.#process = spawn(path, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  static async start(): Promise<OlmResolver> {
    return new OlmResolver(await olmResolverBinary());
  }

  async resolve(request: NamespaceRequest): Promise<OlmAnswer> {
    this.#process.stdin.write(`${JSON.stringify(forOlm(request))}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("OLM's resolver has ended.");
    return JSON.parse(value) as OlmAnswer;
  }

  stop(): void {
    this.#process.stdin.end();
  }
}

const notListed = 'failed to list bundles: ';

function forOlm(request: NamespaceRequest): unknown {
  const { namespace, globalNamespace, operatorGroups, failForward = false } = request;
  return {
    namespace,
    globalNamespace: globalNamespace ?? 'olm',
    excludeGlobal: globalNamespace === undefined,
    failForward,
    operatorGroups,
    subscriptions: request.subscriptions.map(({ packageName, catalog, ...rest }) => ({
      ...rest,
      package: packageName,
      catalog: catalog.name,
      catalogNamespace: catalog.namespace,
    })),
    installed: request.installed.map(({ version, owned, required, ...rest }) => ({
      ...rest,
      version: versionText(version),
      owned: owned.customResourceDefinitions,
      required: required.customResourceDefinitions,
    })),
    catalogs: request.catalogs.map((content) => ({
      ...content.catalog,
      error: 'error' in content ? content.error.replace(notListed, '') : '',
      entries: 'packages' in content ? content.packages.flatMap(entriesOf) : [],
    })),
  };
}

type CatalogPackage = Extract<
  NamespaceRequest['catalogs'][number],
  { readonly packages: unknown }
>['packages'][number];

function entriesOf({ name, defaultChannel, channels, bundles }: CatalogPackage): unknown[] {
  return channels.flatMap((channel) =>
    channel.entries.flatMap((entry) => {
      const bundle = bundles.find((each) => each.name === entry.name);
      if (bundle === undefined) return [];
      const { name: csv, replaces, skips, skipRange } = entry;
      const version = bundle.version === undefined ? '' : versionText(bundle.version);
      const { properties } = bundle;
      const place = { package: name, channel: channel.name, defaultChannel };
      return [{ ...place, name: csv, version, replaces, skips, skipRange, properties }];
    }),
  );
}

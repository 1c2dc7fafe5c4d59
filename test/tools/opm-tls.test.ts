// @module-tag long
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBundleImage } from '../../catalog/images/index.ts';
import { registryAccess } from '../../cmd/registry-access.ts';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { operatorFiles } from '../helpers/operator-bundle.ts';
import { opmBinary } from '../helpers/opm.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';

let dir: string;
/** With a certificate that no authority of this machine has signed. */
let registry: OwnRegistry;
let image: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-tls-'));
  const { ca, server } = await generateCertificates();
  registry = await OwnRegistry.start({ dir, tls: server });
  image = `${registry.host}/greeter:v1`;
  await writeFile(join(dir, 'ca.crt'), ca.cert);
  const policy = { default: [{ type: 'insecureAcceptAnything' }] };
  await mkdir(join(dir, '.config/containers'), { recursive: true });
  await writeFile(join(dir, '.config/containers/policy.json'), JSON.stringify(policy));
  await push(operatorFiles({ name: 'greeter', modes: ['AllNamespaces'] }));
});

afterAll(async () => {
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function push(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, 'bundle', path)), { recursive: true });
    await writeFile(join(dir, 'bundle', path), content);
  }
  const { signal } = new AbortController();
  const built = await buildBundleImage(join(dir, 'bundle'), { signal });
  const registryCaFile = join(dir, 'ca.crt');
  const access = await registryAccess({ insecureRegistry: [], registryCaFile });
  const { target, tag } = await access.openTarget(image);
  await built.push(target, tag, signal);
  await target.close();
  await built.close();
}

test.each([
  ['render', '--skip-tls-verify', []],
  ['render in YAML', '--skip-tls-verify', ['-o', 'yaml']],
])('opm %s with %s takes a certificate that nobody vouches for', async (_title, flag, more) => {
  const options = { cwd: dir, env: { HOME: dir } };
  const { ours, theirs } = await runBothOpms(['render', image, flag, ...more], options);
  expect(ours).toEqual(theirs);
  expect(ours).toMatchObject({ code: 0, stdout: expect.stringContaining('greeter') as string });
});

test('opm refuses it without the flag', async () => {
  const { ours, theirs } = await runBothOpms(['render', image], { cwd: dir, env: { HOME: dir } });
  expect(ours).toMatchObject({ code: theirs.code, stdout: theirs.stdout });
  expect(ours.stderr).toContain(`render reference "${image}": `);
  expect(theirs.code).toBe(1);
});

test.each([[['-c', 'ca.crt']], [['--skip-tls-verify']]])(
  'opm alpha bundle unpack %j unpacks the image',
  async (flags) => {
    const command = ['alpha', 'bundle', 'unpack', image, '-v', '-o', 'out', ...flags];
    const { ours, theirs } = await runBothOpms(command, { cwd: dir, env: { HOME: dir } });
    expect(ours).toEqual(theirs);
    expect(ours.code).toBe(0);
    const unpacked = await readFile(join(dir, 'out/manifests/csv.yaml'), 'utf8');
    expect(unpacked).toBe(await readFile(join(dir, 'bundle/manifests/csv.yaml'), 'utf8'));
    await rm(join(dir, 'out'), { recursive: true });
  },
);

// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installReleased } from '../helpers/in-cluster-system.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { Release } from '../helpers/release.ts';
import { SystemSmoke } from '../helpers/system-smoke.ts';
import { UnpackedImage } from '../helpers/unpacked-image.ts';

const { registry, kubeconfig } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });

let release: Release;
let image: UnpackedImage;

// Before that of the file that is imported below, whose system is of the release then.
beforeAll(async () => {
  release = await Release.shared();
  image = await UnpackedImage.pull(await release.image());
  installReleased({ manifest: release.path('install.yaml'), image });
});

afterAll(async () => {
  installReleased(undefined);
  await image?.remove();
});

async function inImage(script: string): Promise<string> {
  return await image.run(['/nodejs/bin/node', '--eval', script]);
}

describe('a container of the image', () => {
  test('runs as a user without rights, on a root that it cannot write to', async () => {
    expect(
      await inImage('console.log(process.getuid(), process.getgid(), process.getgroups())'),
    ).toBe('65532 65532 [ 65532 ]');
    expect(
      await inImage(
        'try { fs.writeFileSync("/app/x", "") } catch ({ code }) { console.log(code) }',
      ),
    ).toBe('EROFS');
  });

  test('has no shell, and Node as its only program', async () => {
    await expect(image.run(['/bin/sh', '-c', 'true'])).rejects.toThrow('No such file');
    const programs = await inImage(`
      const folders = fs.readdirSync('/').filter((name) => !['proc', 'dev', 'app'].includes(name));
      const files = folders.flatMap((folder) =>
        fs.readdirSync('/' + folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => ({ path: parentPath + '/' + name, name }))
          // This machine's own.
          .filter(({ path }) => !['/etc/hosts', '/etc/resolv.conf'].includes(path)));
      const programs = files.filter(({ path }) => (fs.statSync(path).mode & 0o111) !== 0);
      console.log(programs.map(({ name }) => name).sort().join(' '));
    `);
    expect(programs).toMatch(/^ld-linux-\S+ libc\.so\.6 node$/);
  });

  test('trusts the authorities that Debian does, and knows time zones', async () => {
    expect(
      await inImage('console.log(require("tls").getCACertificates("system").length > 100)'),
    ).toBe('true');
    expect(await inImage('console.log(fs.existsSync("/usr/share/zoneinfo/Europe/Berlin"))')).toBe(
      'true',
    );
  });

  test('says which version it is of', async () => {
    expect(await image.run([...image.config.Entrypoint, '--version'])).toContain(release.version);
  });
});

describe('pods of the image', () => {
  const smoke = new SystemSmoke({ kubectl, registry, prefix: 'released' });

  test('install, repair, upgrade and remove plain content', async () => {
    await smoke.livesThroughPlain();
  });

  test('render and install a chart', async () => {
    await smoke.livesThroughChart();
  });
});

// All that is tested of an installed system, with pods of the image. The query has this process load
// the file also where it has run it already.
const inCluster = './in-cluster.test.ts?of=release';
await import(inCluster);

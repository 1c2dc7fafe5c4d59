import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { aborted, systemClock } from '../../../core/controller.ts';
import { emptyKeychain, RegistryAccess } from '../../../core/registry/index.ts';
import { catalogControllers } from '../../../operators/catalogs/index.ts';
import { FakeKubeClient } from '../../helpers/fake-kube-client.ts';
import { silentLogger } from '../../helpers/silent-logger.ts';

/** A manager of catalogs alone: reports its memory without and with a served catalog. */
const [registry = '', cacheDir = ''] = process.argv.slice(2);
const client = new FakeKubeClient();
const stop = new AbortController();
const { contents, reflectors, runnables, leader, listening } = catalogControllers({
  client,
  registry: new RegistryAccess({
    insecureRegistries: [registry],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  }),
  systemNamespace: 'rukpak-system',
  cacheDir,
  externalAddress: 'http://catalogs.example',
  address: { host: '127.0.0.1', port: 0 },
  gcInterval: 3_600_000,
  events: { event: () => undefined },
  clock: systemClock,
  logger: silentLogger,
});
const delays = monitorEventLoopDelay({ resolution: 5 });
const parts = [...reflectors.slice(0, 1), ...runnables, leader];
const running = Promise.all(parts.map(async (part) => await part.run(stop.signal)));
const { port } = await listening;
await new Promise((resolve) => setTimeout(resolve, 2000));
const before = resident();
delays.enable();
const changed = Promise.withResolvers<void>();
contents.onChange(({ packages }) => packages.size > 0 && changed.resolve());
const startedAt = performance.now();
client.put({
  apiVersion: 'catalogd.operatorframework.io/v1alpha1',
  kind: 'Catalog',
  metadata: { name: 'shop', uid: 'uid-1', generation: 1 },
  spec: { source: { type: 'image', image: { ref: `${registry}/shop:v1` } } },
});
await changed.promise;
const unpacked = (performance.now() - startedAt) / 1000;
const served = resident();
const names = new Set<string>();
const metas = await fetch(`http://127.0.0.1:${port}/catalogs/shop/api/v1/metas?schema=olm.package`);
for (const line of (await metas.text()).split('\n').filter((each) => each !== '')) {
  names.add((JSON.parse(line) as { name: string }).name);
}
let slowest = 0;
const cpu = process.cpuUsage();
for (const name of names) {
  const from = performance.now();
  await contents.findPackage(name, () => true);
  slowest = Math.max(slowest, performance.now() - from);
}
const { user, system } = process.cpuUsage(cpu);
const used = resident();
// The client's own buffers count no longer.
const response = await fetch(`http://127.0.0.1:${port}/catalogs/shop/api/v1/all`);
let bytes = 0;
for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).byteLength;
process.send?.({
  before,
  served,
  used,
  unpacked,
  bytes,
  packages: names.size,
  slowest,
  perPackage: (user + system) / 1000 / names.size,
  delay: delays.max / 1e6,
});
stop.abort(new Error('measured'));
await Promise.race([running, aborted(stop.signal)]);
process.exit(0);

/** Resident MiB of this process. */
function resident(): number {
  const [, kibibytes = '0'] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  return Number(kibibytes) / 1024;
}

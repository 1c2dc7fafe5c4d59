import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Progress } from '../../go-build/index.ts';
import type { Binaries } from '../binaries/find-binaries.ts';
import type { ApiClient } from './api-client.ts';
import { connectApi } from './api-client.ts';
import type { Certificates } from './certificates.ts';
import { generateCertificates } from './certificates.ts';
import { apiserver, prepareApiserver } from './components/apiserver.ts';
import { controllerManager } from './components/controller-manager.ts';
import { etcd, etcdUrl } from './components/etcd.ts';
import { kwok } from './components/kwok.ts';
import { prepareRegistry, registry } from './components/registry.ts';
import { scheduler } from './components/scheduler.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Layout } from './layout.ts';
import { freePorts, LOOPBACK } from './ports.ts';
import type { Part, ProcessRecord } from './processes.ts';
import { startPart } from './processes.ts';
import {
  acceptsConnections,
  apiserverReady,
  checkRunning,
  nodeReady,
  registryAnswers,
  serviceAccountReady,
  waitUntilReady,
} from './readiness.ts';
import type { ClusterState } from './state.ts';
import { writeState } from './state.ts';

export interface LaunchOptions {
  readonly layout: Layout;
  readonly binaries: Binaries;
  readonly port: number;
  readonly registryPort: number | undefined;
  readonly audit: boolean;
  readonly controllerRate: number;
  readonly serviceRange: string;
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
}

interface Ports {
  readonly apiserver: number;
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly registry: number;
}

/** The started parts; each is recorded in the folder before the next one starts. */
interface Launched {
  readonly state: () => ClusterState;
  start(part: Part): Promise<ProcessRecord>;
  markReady(): Promise<ClusterState>;
}

async function choosePorts({ port, registryPort }: LaunchOptions): Promise<Ports> {
  const [etcd = 0, etcdPeer = 0, free = 0] = await freePorts(3, [port, registryPort ?? 0]);
  return { apiserver: port, etcd, etcdPeer, registry: registryPort ?? free };
}

async function record(layout: Layout, initial: ClusterState): Promise<Launched> {
  let state = initial;
  async function update(change: Partial<ClusterState>): Promise<ClusterState> {
    state = { ...state, ...change };
    await writeState(layout, state);
    return state;
  }
  await update({});
  return {
    state: () => state,
    start: async (part) => {
      const started = await startPart(part);
      await update({ processes: [...state.processes, started] });
      return started;
    },
    markReady: () => update({ ready: true }),
  };
}

interface Plan extends LaunchOptions {
  readonly ports: Ports;
  readonly server: string;
  readonly certificates: Certificates;
  readonly launched: Launched;
}

interface Awaited {
  readonly part: ProcessRecord;
  readonly what: string;
  readonly check: () => Promise<boolean>;
}

async function wait(plan: Plan, awaited: Awaited): Promise<void> {
  const running = plan.launched.state().processes;
  await waitUntilReady({ ...awaited, running, signal: plan.signal });
}

async function startStorage(plan: Plan): Promise<void> {
  const { layout, binaries, ports, launched } = plan;
  const part = await launched.start(etcd(binaries.etcd, layout, ports));
  await prepareRegistry(layout, ports.registry);
  const store = await launched.start(registry(binaries.registry, layout));
  await wait(plan, {
    part,
    what: 'it takes no connection',
    check: () => acceptsConnections(ports.etcd),
  });
  await wait(plan, {
    part: store,
    what: '/v2/ does not answer 200',
    check: () => registryAnswers(launched.state().registry),
  });
}

async function startApiserver(plan: Plan, api: ApiClient): Promise<void> {
  const { layout, binaries, ports, launched, certificates } = plan;
  await prepareApiserver(layout, certificates);
  const { audit, serviceRange } = plan;
  const options = { port: ports.apiserver, serviceRange, etcdUrl: etcdUrl(ports), audit };
  const part = await launched.start(apiserver(binaries['kube-apiserver'], layout, options));
  await wait(plan, {
    part,
    what: '/readyz does not answer 200',
    check: () => apiserverReady(api),
  });
}

async function kubeconfigFor(plan: Plan, user: 'controllerManager' | 'scheduler' | 'kwok') {
  const file = join(plan.layout.config, `${user}.kubeconfig`);
  const { certificates, server } = plan;
  const credentials = certificates[user];
  await writeKubeconfig(file, { server, ca: certificates.ca.cert, user, credentials });
  return file;
}

async function startControllers(plan: Plan, api: ApiClient): Promise<void> {
  const { layout, binaries, launched, controllerRate: rate } = plan;
  const kubeconfig = await kubeconfigFor(plan, 'controllerManager');
  const manager = await launched.start(
    controllerManager(binaries['kube-controller-manager'], layout, { kubeconfig, rate }),
  );
  await launched.start(
    scheduler(binaries['kube-scheduler'], layout, await kubeconfigFor(plan, 'scheduler')),
  );
  const player = await launched.start(
    kwok(binaries.kwok, layout, await kubeconfigFor(plan, 'kwok')),
  );
  await wait(plan, { part: player, what: 'its node is not ready', check: () => nodeReady(api) });
  await wait(plan, {
    part: manager,
    what: 'namespace default has no service account',
    check: () => serviceAccountReady(api),
  });
}

async function startParts(plan: Plan): Promise<void> {
  const { layout, server, certificates, onProgress } = plan;
  const credentials = certificates.admin;
  const api = connectApi(server, certificates.ca.cert, credentials);
  try {
    onProgress('starting etcd and the registry');
    await startStorage(plan);
    onProgress('starting kube-apiserver');
    await startApiserver(plan, api);
    onProgress('starting kube-controller-manager, kube-scheduler and kwok');
    await startControllers(plan, api);
  } finally {
    await api.close();
  }
  const user = 'kubernetes-admin';
  await writeKubeconfig(layout.kubeconfig, { server, ca: certificates.ca.cert, user, credentials });
}

/** Starts every part of a new cluster in an empty folder; returns when all are ready. */
export async function launch(options: LaunchOptions): Promise<ClusterState> {
  const { layout } = options;
  for (const dir of [layout.pki, layout.logs, layout.config, layout.companions]) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  }
  const ports = await choosePorts(options);
  const server = `https://${LOOPBACK}:${ports.apiserver}`;
  const launched = await record(layout, {
    server,
    registry: `${LOOPBACK}:${ports.registry}`,
    kubectl: options.binaries.kubectl,
    ready: false,
    processes: [],
    companions: [],
  });
  const certificates = await generateCertificates();
  await startParts({ ...options, ports, server, certificates, launched });
  await checkRunning(launched.state().processes);
  return launched.markReady();
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Certificates } from '../certificates.ts';
import { writeKeyPair } from '../certificates.ts';
import type { Layout } from '../layout.ts';
import { LOOPBACK } from '../ports.ts';
import type { Part } from '../processes.ts';

// A process that listens at a Service's address on this machine is that Service for the API server,
// because nothing else routes these addresses.
export const SERVICE_RANGE = '127.96.0.0/16';
const ISSUER = 'https://kubernetes.default.svc.cluster.local';

// One line per answered request, to count requests. Patches with their bodies, which show what was
// applied.
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Request', verbs: ['patch'] }, { level: 'Metadata' }],
};

export interface ApiserverOptions {
  readonly port: number;
  readonly serviceRange: string;
  readonly etcdUrl: string;
  readonly audit: boolean;
}

const admissionFile = (layout: Layout) => join(layout.config, 'admission.yaml');
const webhookKubeconfig = (layout: Layout) => join(layout.config, 'webhook-kubeconfig.yaml');
const auditPolicyFile = (layout: Layout) => join(layout.config, 'audit-policy.yaml');

/** Writes the files that the API server reads at its start. */
export async function prepareApiserver(layout: Layout, certificates: Certificates): Promise<void> {
  const { ca, server, contentServer, ...others } = certificates;
  const { proxyCa, proxyClient, serviceAccount, webhookClient } = others;
  const pairs = { ca, server, contentServer, proxyCa, proxyClient, serviceAccount, webhookClient };
  await Promise.all(
    Object.entries(pairs).map(([name, pair]) => writeKeyPair(layout.pki, name, pair)),
  );
  await writeFile(auditPolicyFile(layout), stringify(AUDIT_POLICY));
  await writeFile(admissionFile(layout), stringify(admissionConfiguration(layout)));
  await writeFile(webhookKubeconfig(layout), stringify(webhookClientConfig(layout)));
}

/** Makes the API server authenticate itself to webhooks (docs/howto/secure-webhooks.md). */
function admissionConfiguration(layout: Layout): object {
  const apiVersion = 'apiserver.config.k8s.io/v1';
  const kind = 'WebhookAdmissionConfiguration';
  const configuration = { apiVersion, kind, kubeConfigFile: webhookKubeconfig(layout) };
  const plugins = ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook'];
  return {
    apiVersion,
    kind: 'AdmissionConfiguration',
    plugins: plugins.map((name) => ({ name, configuration })),
  };
}

/** A user in this kubeconfig has the name of the webhook server that it is for. */
function webhookClientConfig({ pki }: Layout): object {
  const user = {
    'client-certificate': join(pki, 'webhookClient.crt'),
    'client-key': join(pki, 'webhookClient.key'),
  };
  return { apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] };
}

function auditArgs(layout: Layout): string[] {
  return [
    `--audit-policy-file=${auditPolicyFile(layout)}`,
    `--audit-log-path=${layout.audit}`,
    // In MiB; with the default of 100 the file would be rotated away from readers that count its
    // lines.
    '--audit-log-maxsize=4096',
  ];
}

export function apiserver(binary: string, layout: Layout, options: ApiserverOptions): Part {
  const pki = (file: string) => join(layout.pki, file);
  return {
    name: 'kube-apiserver',
    binary,
    log: join(layout.logs, 'kube-apiserver.log'),
    args: [
      `--etcd-servers=${options.etcdUrl}`,
      `--bind-address=${LOOPBACK}`,
      `--advertise-address=${LOOPBACK}`,
      `--secure-port=${options.port}`,
      // No pod runs here, and the API refuses loopback addresses as endpoints.
      '--endpoint-reconciler-type=none',
      `--service-cluster-ip-range=${options.serviceRange}`,
      `--tls-cert-file=${pki('server.crt')}`,
      `--tls-private-key-file=${pki('server.key')}`,
      `--client-ca-file=${pki('ca.crt')}`,
      '--authorization-mode=RBAC',
      `--admission-control-config-file=${admissionFile(layout)}`,
      '--allow-privileged=true',
      `--service-account-issuer=${ISSUER}`,
      `--service-account-key-file=${pki('serviceAccount.crt')}`,
      `--service-account-signing-key-file=${pki('serviceAccount.key')}`,
      `--requestheader-client-ca-file=${pki('proxyCa.crt')}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${pki('proxyClient.crt')}`,
      `--proxy-client-key-file=${pki('proxyClient.key')}`,
      '--profiling=false',
      ...(options.audit ? auditArgs(layout) : []),
    ],
  };
}

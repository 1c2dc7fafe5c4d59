import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const VALID_DAYS = 3650;
const DAY_MILLISECONDS = 86_400_000;
// The first address of the service range belongs to the Service `kubernetes`.
const SERVER_ADDRESSES = ['127.0.0.1', '10.0.0.1'];
const SERVER_NAMES = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

export interface KeyPair {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
}

export interface Certificates {
  readonly ca: KeyPair;
  readonly server: KeyPair;
  /** For the content server of `rukpak all` on this machine. */
  readonly contentServer: KeyPair;
  /** Signs only the front proxy's certificate, so that no client certificate can replace that. */
  readonly proxyCa: KeyPair;
  readonly proxyClient: KeyPair;
  readonly admin: KeyPair;
  readonly controllerManager: KeyPair;
  readonly scheduler: KeyPair;
  readonly kwok: KeyPair;
  /** The API server's client certificate for webhooks. */
  readonly webhookClient: KeyPair;
  /** Signs tokens of service accounts; `cert` is the public key. */
  readonly serviceAccount: KeyPair;
}

interface Subject {
  readonly name: string;
  readonly organization?: string;
}

function options() {
  return {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // A minute back, for clocks that run a little behind.
    notBeforeDate: new Date(Date.now() - 60_000),
    notAfterDate: new Date(Date.now() + VALID_DAYS * DAY_MILLISECONDS),
  } as const;
}

function attributes({ name, organization }: Subject) {
  return [
    { name: 'commonName', value: name },
    ...(organization === undefined ? [] : [{ name: 'organizationName', value: organization }]),
  ];
}

async function authority(name: string): Promise<KeyPair> {
  const made = await generate(attributes({ name }), {
    ...options(),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, digitalSignature: true },
    ],
  });
  return { key: made.private, cert: made.cert };
}

async function client(ca: KeyPair, subject: Subject): Promise<KeyPair> {
  const made = await generate(attributes(subject), {
    ...options(),
    ca,
    extensions: [
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', clientAuth: true },
    ],
  });
  return { key: made.private, cert: made.cert };
}

async function server(ca: KeyPair, name: string): Promise<KeyPair> {
  const made = await generate(attributes({ name }), {
    ...options(),
    ca,
    extensions: [
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...SERVER_NAMES.map((value) => ({ type: 2 as const, value })),
          ...SERVER_ADDRESSES.map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
  });
  return { key: made.private, cert: made.cert };
}

function serviceAccountKey(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { key: privateKey, cert: publicKey };
}

/** New certificates for one cluster, not shared with another. */
export async function generateCertificates(): Promise<Certificates> {
  const ca = await authority('rukpak-local-ca');
  const proxyCa = await authority('rukpak-local-front-proxy-ca');
  const masters = 'system:masters';
  return {
    ca,
    proxyCa,
    server: await server(ca, 'kube-apiserver'),
    contentServer: await server(ca, 'rukpak-content-server'),
    proxyClient: await client(proxyCa, { name: 'front-proxy-client' }),
    admin: await client(ca, { name: 'kubernetes-admin', organization: masters }),
    controllerManager: await client(ca, { name: 'system:kube-controller-manager' }),
    scheduler: await client(ca, { name: 'system:kube-scheduler' }),
    kwok: await client(ca, { name: 'kwok', organization: masters }),
    webhookClient: await client(ca, { name: 'kube-apiserver' }),
    serviceAccount: serviceAccountKey(),
  };
}

/** Writes `<name>.crt` and `<name>.key`, readable only by their owner. */
export async function writeKeyPair(dir: string, name: string, pair: KeyPair): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(join(dir, `${name}.crt`), pair.cert, { mode: 0o600 });
  await writeFile(join(dir, `${name}.key`), pair.key, { mode: 0o600 });
}

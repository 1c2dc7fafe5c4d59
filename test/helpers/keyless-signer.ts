import { createHash, sign, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** An installation of sigstore in one object: certificate authority, log and who signs in. */
export interface KeylessSigner {
  /** As `trusted_root.json` has it. */
  readonly trustedRoot: object;
  /** Annotations as cosign gives them to the layer that holds the payload. */
  annotations(payload: Uint8Array): Readonly<Record<string, string>>;
}

export interface SignerIdentity {
  readonly issuer: string;
  /** A URI. */
  readonly subject: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const issuerExtension = '1.3.6.1.4.1.57264.1.8';

export async function keylessSigner({ issuer, subject }: SignerIdentity): Promise<KeylessSigner> {
  x509.cryptoProvider.set(webcrypto);
  const [authority, log, leaf] = await Promise.all([newKeys(), newKeys(), newKeys()]);
  const notBefore = new Date(Date.now() - 3_600_000);
  const notAfter = new Date(Date.now() + 3_600_000);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=test authority',
    keys: authority,
    signingAlgorithm: algorithm,
    notBefore,
    notAfter,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    subject: '',
    issuer: root.subject,
    publicKey: leaf.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: algorithm,
    notBefore,
    notAfter,
    extensions: [
      new x509.SubjectAlternativeNameExtension([{ type: 'url', value: subject }]),
      new x509.Extension(issuerExtension, false, utf8String(issuer)),
    ],
  });
  const logKey = await spki(log);
  const logId = createHash('sha256').update(logKey).digest();
  const leafKey = await pem(leaf);
  const logPrivateKey = await pem(log);
  return {
    trustedRoot: trustedRoot(Buffer.from(root.rawData), { logKey, logId, since: notBefore }),
    annotations(payload) {
      const signature = sign('sha256', payload, leafKey).toString('base64');
      const body = logBody(payload, signature, certificate.toString('pem'));
      const entry = {
        body,
        integratedTime: Math.floor(Date.now() / 1000),
        logID: logId.toString('hex'),
        logIndex: 7,
      };
      // The fields stand in the order of canonical JSON.
      const promise = sign('sha256', Buffer.from(JSON.stringify(canonical(entry))), logPrivateKey);
      return {
        'dev.cosignproject.cosign/signature': signature,
        'dev.sigstore.cosign/certificate': certificate.toString('pem'),
        'dev.sigstore.cosign/bundle': JSON.stringify({
          SignedEntryTimestamp: promise.toString('base64'),
          Payload: entry,
        }),
      };
    },
  };
}

function canonical({
  body,
  integratedTime,
  logID,
  logIndex,
}: Readonly<Record<'body' | 'integratedTime' | 'logID' | 'logIndex', unknown>>): object {
  return { body, integratedTime, logID, logIndex };
}

function logBody(payload: Uint8Array, signature: string, certificate: string): string {
  const value = createHash('sha256').update(payload).digest('hex');
  const body = {
    apiVersion: '0.0.1',
    kind: 'hashedrekord',
    spec: {
      data: { hash: { algorithm: 'sha256', value } },
      signature: {
        content: signature,
        publicKey: { content: Buffer.from(certificate).toString('base64') },
      },
    },
  };
  return Buffer.from(JSON.stringify(body)).toString('base64');
}

function trustedRoot(
  authority: Buffer,
  log: { readonly logKey: Buffer; readonly logId: Buffer; readonly since: Date },
): object {
  return {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [
      {
        baseUrl: 'https://rekor.example.com',
        hashAlgorithm: 'SHA2_256',
        publicKey: {
          rawBytes: log.logKey.toString('base64'),
          keyDetails: 'PKIX_ECDSA_P256_SHA_256',
          validFor: { start: log.since.toISOString() },
        },
        logId: { keyId: log.logId.toString('base64') },
      },
    ],
    certificateAuthorities: [
      {
        subject: { organization: 'test', commonName: 'test authority' },
        uri: 'https://fulcio.example.com',
        certChain: { certificates: [{ rawBytes: authority.toString('base64') }] },
        validFor: { start: log.since.toISOString() },
      },
    ],
    ctlogs: [],
    timestampAuthorities: [],
  };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function spki({ publicKey }: webcrypto.CryptoKeyPair): Promise<Buffer> {
  return Buffer.from(await webcrypto.subtle.exportKey('spki', publicKey));
}

async function pem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`;
}

/** DER of a UTF8String of less than 128 bytes. */
function utf8String(text: string): ArrayBuffer {
  const bytes = Buffer.from(text, 'utf8');
  return Uint8Array.from([0x0c, bytes.length, ...bytes]).buffer;
}

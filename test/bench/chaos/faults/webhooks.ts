import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { issueServingCertificate } from '../../../../core/platform/certificates/index.ts';
import { systemClock } from '../../../../core/platform/clock.ts';
import { secretResource } from '../../../../core/platform/kube/index.ts';
import { insisting } from '../world/insisting.ts';
import { between, type Fault } from './fault.ts';

const key = { namespace: 'rukpak-system', name: 'rukpak-webhook-serving-certificate' };
const hour = 3_600_000;

interface Secret extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The webhooks' serving certificate has expired. */
export const expiredCertificate: Fault = {
  name: 'expired-certificate',
  async strike({ bench }, random) {
    const { client } = bench.kube;
    await insisting(async () => {
      const secret = (await client.get(secretResource, key)) as Secret;
      const text = (name: string): string =>
        Buffer.from(secret.data?.[name] ?? '', 'base64').toString('utf8');
      const ca = { certificate: text('ca.crt'), privateKey: text('ca.key') };
      const now = systemClock.now();
      const validity = { notBefore: now - 2 * hour, notAfter: now - 1_000 };
      const pair = await issueServingCertificate(ca, ['127.0.0.1'], validity);
      const data = {
        ...secret.data,
        'tls.crt': Buffer.from(pair.certificate).toString('base64'),
        'tls.key': Buffer.from(pair.privateKey).toString('base64'),
      };
      await client.update(secretResource, { ...secret, data });
    });
    await delay(between(random, 100, 2_000));
  },
};

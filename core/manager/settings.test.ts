import { expect, it } from 'vitest';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { defaultLimits } from '../content/index.ts';
import { settingsOf } from './settings.ts';

const acme = { className: 'acme', deployment: async () => [] };
const beta = { className: 'beta', deployment: async () => [] };
const parts = {
  provisioners: [beta, acme],
  sources: [],
  memory: ampleMemory(),
  logger: silentLogger,
};

it('names the lease after the classes, in whatever order they are given', () => {
  const settings = settingsOf({ provisioners: [] }, parts);
  expect(settings.leaseName).toBe('acme.beta.core.rukpak.io');
});

it('keeps the lease’s name within what an object’s name may have', () => {
  const many = Array.from({ length: 40 }, (_, index) => ({ className: `class-number-${index}` }));
  const { leaseName } = settingsOf({ provisioners: [] }, { ...parts, provisioners: many });
  expect(leaseName).toMatch(/^[a-z0-9]{30,50}\.core\.rukpak\.io$/);
});

it('elects a leader by the lease that is named, unless it is told not to', () => {
  const named = settingsOf({ provisioners: [], leaseName: 'x' }, parts);
  expect(named).toMatchObject({ leaseName: 'x', leaderElection: true });
  const alone = settingsOf({ provisioners: [], leaderElection: false }, parts);
  expect(alone).toMatchObject({ leaseName: 'acme.beta.core.rukpak.io', leaderElection: false });
});

it('leaves what is given, and fills in the rest of content and limits', () => {
  const settings = settingsOf(
    { provisioners: [], content: { directory: '/data' }, limits: { maxEntries: 3 }, workers: 1 },
    parts,
  );
  expect(settings).toMatchObject({
    systemNamespace: 'rukpak-system',
    limits: { ...defaultLimits, maxEntries: 3 },
    content: { directory: '/data', bindAddress: ':8080', contentServers: [] },
    healthProbeBindAddress: ':8081',
    workers: 1,
    reportHealth: true,
  });
});

it('has certificates of its own for 90 days, and none that are over before others are made', () => {
  const ninetyDays = 90 * 24 * 3_600_000;
  const { certificates } = settingsOf({ provisioners: [] }, parts);
  expect(certificates).toEqual({ provider: 'self', lifetime: ninetyDays });
  const given = { provider: 'service-ca' } as const;
  expect(settingsOf({ provisioners: [], certificates: given }, parts).certificates).toEqual({
    provider: 'service-ca',
    lifetime: ninetyDays,
  });
  expect(() => settingsOf({ provisioners: [], certificates: { lifetime: 1 } }, parts)).toThrow(
    'certificates.lifetime must be at least 60000 milliseconds',
  );
});

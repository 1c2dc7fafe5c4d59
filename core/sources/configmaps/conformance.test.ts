import { test } from 'vitest';
import { describeSource } from '../../../testing/index.ts';
import { createConfigMapsSource } from './config-maps-source.ts';

const configMaps = {
  colours: { 'a.yaml': 'blue', 'b.yaml': 'red' },
  shapes: { 'c.yaml': 'round' },
};

describeSource(
  createConfigMapsSource(),
  {
    fetched: [
      {
        name: 'two ConfigMaps',
        source: {
          type: 'configMaps',
          configMaps: [
            { configMap: { name: 'colours' }, path: 'manifests' },
            { configMap: { name: 'shapes' } },
          ],
        },
        configMaps,
        files: { 'c.yaml': 'round', 'manifests/a.yaml': 'blue', 'manifests/b.yaml': 'red' },
      },
    ],
    refused: [
      {
        name: 'a folder outside of the bundle',
        source: {
          type: 'configMaps',
          configMaps: [
            { configMap: { name: 'colours' } },
            { configMap: { name: 'colours' }, path: '..' },
          ],
        },
        configMaps,
        error: 'TerminalError',
        message: /^bundle source configMaps\[1\]\.path is invalid: /,
      },
      {
        name: 'a ConfigMap that may still come',
        source: { type: 'configMaps', configMaps: [{ configMap: { name: 'none' } }] },
        error: 'Error',
        message: 'get configmap rukpak-system/none: ConfigMap "none" not found',
      },
    ],
  },
  { test },
);

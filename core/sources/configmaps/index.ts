export { createConfigMapsSource } from './config-maps-source.ts';

export { createHttpSource, type HttpSourceOptions } from './http-source.ts';

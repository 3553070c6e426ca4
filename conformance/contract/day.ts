/** Whether a text is a day of the calendar, as YYYY-MM-DD. */
export const isDay = (text: string): boolean => {
  const day = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  // A day that its month lacks would be one of the next month.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};
